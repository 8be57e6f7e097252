"""Messages show no secrets, nothing that cannot be printed, no megabytes."""

import pickle

import polars as pl
import pytest
from messages import message_of

import polars_ir as ir
from polars_ir.errors import FileError, shown

SECRETS = [
    ("http://user:pw@host/a.run", "http://***@host/a.run"),
    ("https://token@host/a.run: it is missing.", "https://***@host/a.run: it is missing."),
    ("s3://key:p@ss@bucket/a.run", "s3://***@bucket/a.run"),
    ("http://host/a.run?token=abc", "http://host/a.run?token=***"),
    ("http://host/a.run?token=abc: it is missing.", "http://host/a.run?token=***: it is missing."),
    (
        "http://h/a?sig=a%2Bb/c=&se=2024-01-01T00:00:00Z#access_token=x, y",
        "http://h/a?sig=***&se=***#access_token=***, y",
    ),
    (
        "'http://h/a?X-Amz-Signature=abc' and 'http://h/b?k=v'",
        "'http://h/a?X-Amz-Signature=***' and 'http://h/b?k=***'",
    ),
    ("http://h/my file?token=abc", "http://h/my file?token=***"),
    ("http://host:80/a@b.run", "http://host:80/a@b.run"),
    ("a.run, line 2: what? k=3 is wrong; got 'a@b'.", "a.run, line 2: what? k=3 is wrong; got 'a@b'."),
]


@pytest.mark.parametrize(("text", "wanted"), SECRETS)
def test_secrets_of_urls_are_not_shown(text, wanted):
    assert shown(text) == wanted


def test_no_part_of_an_error_has_a_secret():
    error = FileError.of_file(
        "http://user:pw@host/a.run?token=abc", "there is no such file.", near="http://u:pw@host/b"
    )
    for text in (str(error), repr(error), error.says, str(pickle.loads(pickle.dumps(error)))):  # noqa: S301
        assert "pw" not in text
        assert "abc" not in text


@pytest.mark.whole("thousands of columns")
def test_of_many_columns_the_first_are_listed():
    run = pl.DataFrame({f"column {number}": [1] for number in range(20_000)})
    message = message_of(lambda: ir.evaluate(run, {"q": {"d": 1}}, ["AP"]))
    assert len(message) < 5000
    assert message.startswith("run has no 'query_id' column")
    assert " and 19,970 others. " in message
    assert message.endswith("a 'score' if its highest value is the best, a 'rank' if 1 is.")


def test_a_long_id_does_not_make_a_long_message():
    run = pl.DataFrame(
        {"query_id": ["q" * 10_000_000], "doc_id": ["d"], "score": [None]}, schema_overrides={"score": pl.Float64}
    )
    with pytest.raises(ir.IRError) as caught:
        ir.evaluate(run, {"q": {"d": 1}}, ["AP"])
    assert len(str(caught.value)) < 5000


@pytest.mark.parametrize("text", ["a\ud800b", "\udfff"])
def test_half_a_character_can_be_printed(text):
    shown(text).encode()
    with pytest.raises(ir.IRError) as caught:
        ir.evaluate({text: {"d": 1.0}}, {"q": {"d": 1}}, ["AP"])
    str(caught.value).encode()


@pytest.mark.parametrize(
    ("run", "qrels"),
    [
        ({"q\ud800": {"d": 1.0}}, {"q": {"d": 1}}),
        ({"q": {"d\ud800": 1.0}}, {"q": {"d": 1}}),
        ({"q": {"d": 1.0}}, {"q": {"d\udc80": 1}}),
        ({"a\ud800": {"q": {"d": 1.0}}, "b": {"q": {"d": 1.0}}}, {"q": {"d": 1}}),
    ],
)
def test_half_a_character_in_a_name_is_an_error(run, qrels):
    with pytest.raises(ir.IRError, match=r"has a name that is not text, .*: it has an unpaired surrogate"):
        ir.evaluate(run, qrels, ["AP"])
