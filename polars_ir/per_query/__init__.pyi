from polars_ir.per_query.abstention import abstention as abstention
from polars_ir.per_query.assert_no_worse import assert_no_worse as assert_no_worse
from polars_ir.per_query.compare import compare as compare, discriminative_power as discriminative_power
from polars_ir.per_query.difficulty import hardest as hardest, unanswered as unanswered
from polars_ir.per_query.drift import drift as drift
from polars_ir.per_query.gate import gate as gate
from polars_ir.per_query.judges import favour as favour, judge_effect as judge_effect
from polars_ir.per_query.level import level as level
from polars_ir.per_query.long import long as long
from polars_ir.per_query.means import mean as mean, summarize as summarize, to_metrics as to_metrics
from polars_ir.per_query.power import power as power
from polars_ir.per_query.provenance import provenance as provenance
from polars_ir.per_query.rank_correlation import rank_correlation as rank_correlation
from polars_ir.per_query.ranks import ranks as ranks
from polars_ir.per_query.risk import geo_risk as geo_risk, risk as risk
from polars_ir.per_query.robustness import robustness as robustness
from polars_ir.per_query.worst_slices import worst_slices as worst_slices
