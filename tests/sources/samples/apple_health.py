"""Exports of Apple Health, as telephones of several years write them."""

from tests.sources.samples.sample import FormatSample

PROLOG = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE HealthData [
<!-- HealthKit Export Version: 14 -->
<!ELEMENT HealthData (ExportDate,Me,(Record|Correlation|Workout|ActivitySummary|ClinicalRecord)*)>
<!ATTLIST HealthData
  locale CDATA #REQUIRED
>
<!ATTLIST Record unit CDATA #IMPLIED startDate CDATA #REQUIRED
]>
<HealthData locale="pt_PT">
"""
ME = (
    '<Me HKCharacteristicTypeIdentifierDateOfBirth="1984-02-29"'
    ' HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSexFemale"'
    ' HKCharacteristicTypeIdentifierBloodType="HKBloodTypeNotSet"'
    ' HKCharacteristicTypeIdentifierFitzpatrickSkinType="HKFitzpatrickSkinTypeNotSet"'
    ' HKCharacteristicTypeIdentifierCardioFitnessMedicationsUse="None"/>\n'
)


def device(address: str) -> str:
    """Return a device as an export names it: with a place in memory that changes each time."""
    return (
        f"&lt;&lt;HKDevice: {address}&gt;, name:Apple Watch, manufacturer:Apple Inc., model:Watch,"
        " hardware:Watch6,1, software:10.1&gt;"
    )


def record(
    kind: str,
    value: str,
    start: str,
    end: str,
    *,
    unit: str = "",
    inner: str = "",
    address: str = "0x283e0c0",
) -> str:
    """Return one measurement."""
    unit = f' unit="{unit}"' if unit else ""
    return (
        f'<Record type="{kind}" sourceName="Nora’s Watch" sourceVersion="10.1"'
        f' device="{device(address)}"{unit} creationDate="{end}" startDate="{start}"'
        f' endDate="{end}" value="{value}">{inner}</Record>\n'
    )


def steps(day: int, count: int, zone: str = "+0100", hour: int = 8) -> str:
    """Return the steps of an hour, written in a zone."""
    return record(
        "HKQuantityTypeIdentifierStepCount",
        str(count),
        f"2026-01-{day:02} {hour:02}:00:00 {zone}",
        f"2026-01-{day:02} {hour:02}:30:00 {zone}",
        unit="count",
    )


SLEEP = record(
    "HKCategoryTypeIdentifierSleepAnalysis",
    "HKCategoryValueSleepAnalysisAsleepCore",
    "2026-01-02 23:00:00 +0100",
    "2026-01-03 01:30:00 +0100",
    inner='<MetadataEntry key="HKTimeZone" value="Europe/Lisbon"/>',
)
BEATS = record(
    "HKQuantityTypeIdentifierHeartRateVariabilitySDNN",
    "41.5",
    "2026-01-03 08:00:00 +0100",
    "2026-01-03 08:01:00 +0100",
    unit="ms",
    inner="<HeartRateVariabilityMetadataList>"
    '<InstantaneousBeatsPerMinute bpm="61" time="08:00:01,20"/>'
    '<InstantaneousBeatsPerMinute bpm="62" time="08:00:02,10"/>'
    "</HeartRateVariabilityMetadataList>",
)
_PRESSURES = "".join(
    record(
        f"HKQuantityTypeIdentifierBloodPressure{name}",
        value,
        "2026-01-04 08:00:00 +0100",
        "2026-01-04 08:00:00 +0100",
        unit="mmHg",
    )
    for name, value in (("Systolic", "121"), ("Diastolic", "79"))
)
PRESSURE = _PRESSURES + (
    '<Correlation type="HKCorrelationTypeIdentifierBloodPressure" sourceName="Cuff"'
    ' creationDate="2026-01-04 08:00:00 +0100" startDate="2026-01-04 08:00:00 +0100"'
    f' endDate="2026-01-04 08:00:00 +0100">{_PRESSURES}</Correlation>\n'
)
RUN = (
    '<Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="31.5"'
    ' durationUnit="min" sourceName="Nora’s Watch" creationDate="2026-01-05 09:00:00 +0100"'
    ' startDate="2026-01-05 08:00:00 +0100" endDate="2026-01-05 08:31:30 +0100">\n'
    ' <MetadataEntry key="HKWorkoutBrandName" value="Along the eastern pier before breakfast"/>\n'
    ' <WorkoutEvent type="HKWorkoutEventTypeLap" date="2026-01-05 08:10:00 +0100"/>\n'
    ' <WorkoutStatistics type="HKQuantityTypeIdentifierDistanceWalkingRunning"'
    ' startDate="2026-01-05 08:00:00 +0100" endDate="2026-01-05 08:31:30 +0100" sum="5.25"'
    ' unit="km"/>\n'
    ' <WorkoutStatistics type="HKQuantityTypeIdentifierActiveEnergyBurned" sum="418.4" unit="kJ"'
    ' startDate="2026-01-05 08:00:00 +0100" endDate="2026-01-05 08:31:30 +0100"/>\n'
    ' <WorkoutRoute sourceName="Nora’s Watch"><FileReference'
    ' path="/workout-routes/route_2026-01-05_8.31am.gpx"/></WorkoutRoute>\n</Workout>\n'
)
OLD_RIDE = (
    '<Workout workoutActivityType="HKWorkoutActivityTypeCycling" duration="60" durationUnit="min"'
    ' totalDistance="10" totalDistanceUnit="mi" totalEnergyBurned="300"'
    ' totalEnergyBurnedUnit="kcal" sourceName="Rides" creationDate="2017-05-01 10:00:00 +0200"'
    ' startDate="2017-05-01 09:00:00 +0200" endDate="2017-05-01 10:00:00 +0200"/>\n'
)
DAY = (
    '<ActivitySummary dateComponents="2026-01-05" activeEnergyBurned="512.3"'
    ' activeEnergyBurnedGoal="500" activeEnergyBurnedUnit="kcal" appleMoveTime="0"'
    ' appleExerciseTime="41" appleExerciseTimeGoal="30" appleStandHours="12"'
    ' appleStandHoursGoal="12"/>\n'
)
CLINIC = (
    '<ClinicalRecord type="AllergyIntolerance" identifier="a-1" sourceName="Harbour clinic"'
    ' sourceURL="https://clinic.example" fhirVersion="4.0.1"'
    ' receivedDate="2026-01-06 08:00:00 +0100"'
    ' resourceFilePath="/clinical-records/AllergyIntolerance-1.json"/>\n'
)
GPX = (
    b'<?xml version="1.0"?><gpx version="1.1" creator="Apple Health Export"><trk><trkseg>'
    b'<trkpt lon="-9.1" lat="38.7"><time>2026-01-05T07:00:00Z</time></trkpt></trkseg></trk></gpx>'
)
ECG = (
    'Name,"Nora Lind"\nDate of Birth,"Feb 29, 1984"\nRecorded Date,2026-01-07 08:00:00 +0100\n'
    'Classification,Sinus Rhythm\nSymptoms,\nSoftware Version,1.90\nDevice,"Watch6,1"\n'
    "Sample Rate,512 hertz\n\n\nLead,Lead I\nUnit,µV\n\n-8.5\n3.25\n12\n"
).encode()


def document(*elements: str, me: str = ME, day: str = "2026-01-31 10:00:00 +0100") -> bytes:
    """Return a whole document."""
    date = f'<ExportDate value="{day}"/>\n'
    return f"{PROLOG}{date}{me}{''.join(elements)}</HealthData>\n".encode()


EVERYTHING = (steps(1, 512), steps(2, 1_024), SLEEP, BEATS, PRESSURE, RUN, OLD_RIDE, DAY, CLINIC)


def export(
    *elements: str, folder: str = "apple_health_export", name: str = "export.xml"
) -> dict[str, bytes]:
    """Return the files of an export."""
    return {
        f"{folder}/{name}": document(*elements),
        f"{folder}/export_cda.xml": b'<?xml version="1.0"?><ClinicalDocument/>',
        f"{folder}/workout-routes/route_2026-01-05_8.31am.gpx": GPX,
        f"{folder}/electrocardiograms/ecg_2026-01-07.csv": ECG,
        f"{folder}/clinical-records/AllergyIntolerance-1.json": b'{"resourceType": "Allergy"}',
    }


SAMPLES = (
    FormatSample(
        "apple_health",
        "a folder with routes and recordings",
        export(*EVERYTHING),
        words="eastern pier before breakfast",
        sentence="Along the eastern pier before breakfast",
        units={
            "Workout": ["XML elements Workout"],
            "Correlation": ["XML elements Correlation"],
            "ActivitySummary": ["XML elements ActivitySummary"],
        },
        earlier=export(*EVERYTHING[:3]),
        cut="apple_health_export/export.xml",
        renamed={"apple_health_export/export.xml": "apple_health_export/exportação.xml"},
    ),
    FormatSample(
        "apple_health",
        "the document alone",
        {
            "export.xml": document(
                steps(1, 5), steps(2, 6), RUN.split(" <WorkoutRoute")[0] + "</Workout>"
            )
        },
        words="eastern pier before breakfast",
        sentence="Along the eastern pier before breakfast",
        units={"Record": ["XML elements Record"]},
        earlier={"export.xml": document(steps(1, 5))},
        cut="export.xml",
        renamed={"export.xml": "Exportación (1).xml"},
    ),
)
