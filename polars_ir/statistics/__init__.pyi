from polars_ir.statistics.bounds import (
    LEAST_BELOW as LEAST_BELOW,
    NO_RANGE as NO_RANGE,
    Tail as Tail,
    p_above as p_above,
    p_of_signs as p_of_signs,
)
from polars_ir.statistics.intervals import Estimate as Estimate
from polars_ir.statistics.randomisation import (
    CELLS as CELLS,
    ROUNDING as ROUNDING,
    Booleans as Booleans,
    Draws as Draws,
    Floats as Floats,
    exchange_p as exchange_p,
    is_near_limit as is_near_limit,
    largest_flipped as largest_flipped,
    p_by_limit as p_by_limit,
    unit as unit,
)
from polars_ir.statistics.samples import (
    Ends as Ends,
    Moments as Moments,
    Sample as Sample,
    Values as Values,
    together as together,
)
from polars_ir.statistics.significance import (
    EFFECTS as EFFECTS,
    MAIN_CORRECTIONS as MAIN_CORRECTIONS,
    PAIRED as PAIRED,
    Outcome as Outcome,
    Paired as Paired,
    automatic as automatic,
    cohen_d_interval as cohen_d_interval,
    corrected as corrected,
    deviation as deviation,
    differences as differences,
    effects as effects,
    is_correction as is_correction,
    largest_values as largest_values,
    of_all as of_all,
    records as records,
    resamples_for as resamples_for,
    rounded as rounded,
    samples_of as samples_of,
    t_test as t_test,
    there as there,
    without_ties as without_ties,
)
from . import agreement as agreement
from . import bounds as bounds
from . import intervals as intervals
from . import planning as planning
from . import prediction as prediction
from . import randomisation as randomisation
from . import rank_order as rank_order
from . import samples as samples
from . import significance as significance
from . import student as student
