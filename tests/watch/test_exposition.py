from pdpp.watch.exposition import family, ingest_lines, request_lines, single
from pdpp.watch.meter import BOUNDS, Meter


def test_a_metric_says_what_it_is_before_its_samples() -> None:
    assert list(single("pdpp_records", "gauge", "Records.", 12.0)) == [
        "# HELP pdpp_records Records.",
        "# TYPE pdpp_records gauge",
        "pdpp_records 12",
    ]


def test_a_label_cannot_end_its_own_quotes_or_line() -> None:
    *_, line = family("m", "gauge", "M.", [("", {"name": 'a"b\\c\nd'}, 0.5)])
    assert line == 'm{name="a\\"b\\\\c\\nd"} 0.5'


def test_a_histogram_adds_up_its_buckets_and_ends_with_all() -> None:
    meter = Meter()
    meter.expect(["/a"])
    for seconds in (0.0005, 0.002, 0.002, 99.0):
        meter.begin()
        meter.end("/a", "GET", 200, seconds)
    lines = list(request_lines(meter))
    buckets = [line for line in lines if line.startswith("pdpp_request_seconds_bucket")]
    assert len(buckets) == len(BOUNDS) + 1
    assert buckets[0] == 'pdpp_request_seconds_bucket{route="/a",le="0.001"} 1'
    assert buckets[1] == 'pdpp_request_seconds_bucket{route="/a",le="0.0025"} 3'
    assert buckets[-2] == 'pdpp_request_seconds_bucket{route="/a",le="10"} 3'
    assert buckets[-1] == 'pdpp_request_seconds_bucket{route="/a",le="+Inf"} 4'
    assert 'pdpp_request_seconds_count{route="/a"} 4' in lines
    assert 'pdpp_request_seconds_sum{route="/a"} 99.0045' in lines
    assert 'pdpp_requests_total{route="/a",method="GET",status="200"} 4' in lines
    assert lines[-1] == "pdpp_requests_in_flight 0"


def test_lines_that_came_in_are_told_by_what_became_of_them() -> None:
    meter = Meter()
    meter.ingested(5, 2)
    assert list(ingest_lines(meter))[2:] == [
        'pdpp_ingested_lines_total{outcome="accepted"} 5',
        'pdpp_ingested_lines_total{outcome="rejected"} 2',
    ]
