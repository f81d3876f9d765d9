"""Every mutant by its name, and those that only the hunt itself is tried with."""

from types import MappingProxyType

from tests.promises.mutants import access, evidence, keeping, strays, trust

MUTANTS = MappingProxyType(
    {mutant.name: mutant for part in (access, evidence, keeping, trust) for mutant in part.MUTANTS}
)
STRAYS = MappingProxyType({mutant.name: mutant for mutant in strays.MUTANTS})
