"""Errors and warnings: problems as data, worded for the caller's interface."""

from polars_ir.errors.caller import (
    Code as Code,
    Caller as Caller,
    Fix as Fix,
    Setting as Setting,
    caller as caller,
    called_from as called_from,
    called_with as called_with,
    with_names as with_names,
    option as option,
    reading as reading,
    table_name as table_name,
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
    warn as warn,
)
from polars_ir.errors.names import (
    OF_PLANS as OF_PLANS,
    TAKEN as TAKEN,
    alike as alike,
    closest as closest,
    did_you_mean as did_you_mean,
    fold as fold,
    intended as intended,
    nearest as nearest,
    printable as printable,
    quoted as quoted,
    shown as shown,
)
