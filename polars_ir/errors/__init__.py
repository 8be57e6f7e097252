"""Errors and warnings: problems as data, said in the words of the door that a call came by."""

from polars_ir.errors.doors import (
    Code as Code,
    Door as Door,
    Fix as Fix,
    Setting as Setting,
    door as door,
    entered_by as entered_by,
    entered_with as entered_with,
    known_as as known_as,
    option as option,
    reading as reading,
    the as the,
)
from polars_ir.errors.kinds import (
    SHOWN as SHOWN,
    ColumnError as ColumnError,
    DataError as DataError,
    DtypeError as DtypeError,
    ExtraError as ExtraError,
    FileError as FileError,
    InputTypeError as InputTypeError,
    IRError as IRError,
    IRWarning as IRWarning,
    MeasureError as MeasureError,
    OptionError as OptionError,
    called as called,
    check_systems as check_systems,
    deprecated as deprecated,
    warn as warn,
)
from polars_ir.errors.names import (
    OF_PLANS as OF_PLANS,
    TAKEN as TAKEN,
    alike as alike,
    closest as closest,
    did_you_mean as did_you_mean,
    nearest as nearest,
    printable as printable,
    quoted as quoted,
    shown as shown,
)
