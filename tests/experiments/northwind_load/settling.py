"""Brings one record of a running service into the wanted state: created, changed if it differs, or left alone."""

from dataclasses import dataclass, field

from tests.experiments.northwind_load.client import Client, Record


@dataclass
class Tally:
    """What a run has done, and its problems."""

    created: int = 0
    changed: int = 0
    reset: int = 0
    problems: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Add what another part of the run has done."""
        self.created += other.created
        self.changed += other.changed
        self.reset += other.reset
        self.problems += other.problems


def settle(
    client: Client, path: str, there: Record | None, wanted: Record, tally: Tally, first: Record | None = None
) -> Record:
    """Return the record as `wanted`; `there` is the service's present one, `first` has more values for a new one."""
    if there is None:
        created: Record = client.create(path, wanted | (first or {}))
        tally.created += 1
        return created
    different = {name: value for name, value in wanted.items() if there[name] != value}
    if not different:
        return there
    body = different | {"version": there["version"]}
    changed: Record = client.call("PATCH", f"{path}/{there['id']}", body)
    tally.changed += 1
    return changed
