"""What only holders of `hrm:employee:private` read of employees: identity, bank, birth, and emergency contacts.

It is stored as one encrypted value, so it is in no list, export, search, history or log. The key is derived from the
signing secrets of the service; once there is a new one, a job encrypts what an old one encrypted again.
"""

from __future__ import annotations

import base64
import hashlib
from typing import cast

import orjson
from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from plugins.api import (
    CONFLICT,
    ApiError,
    Collection,
    Field,
    Index,
    Job,
    Message,
    Record,
    Request,
    Route,
    Service,
    array,
    conflicts,
    day,
    obj,
    object_id,
    route,
    shape,
    text,
    timestamp,
)
from plugins.hrm.record_types import PrivateDetails
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.results import lock

_BATCH = 500
UNREADABLE = Message(
    "签名密钥已被更换，无法解密该员工的隐私信息",
    "The signing secret was replaced, so the private details of this employee cannot be decrypted",
)
_CONTACT = obj(
    "EmergencyContact",
    {
        "name": text(label=("姓名", "Name"), required=True, max_length=100, example="王芳"),
        "relation": text(label=("关系", "Relation"), max_length=50, example="配偶"),
        "phone": text(label=("电话", "Phone"), required=True, max_length=50, example="021-5555 0101"),
    },
)
_DETAILS: dict[str, Field] = {
    "identity_number": text(label=("证件号码", "Identity number"), max_length=40, example="110101199003070011"),
    "birth_day": day(
        earliest="1900-01-01", label=("出生日期", "Day of birth"), example="1968-03-07", description="From 1900 on."
    ),
    "bank_name": text(label=("开户银行", "Bank"), max_length=100, example="招商银行上海分行"),
    "bank_account": text(label=("银行账号", "Bank account"), max_length=40, example="6225880123456789"),
    "emergency_contacts": array(_CONTACT, label=("紧急联系人", "Emergency contacts"), max_items=5),
}
PRIVATE: Collection[PrivateDetails] = Collection(
    name="hrm_private_details",
    title="PrivateDetails",
    noun=Message("员工隐私信息", "private details"),
    fields={
        "employee_id": object_id(
            ref=EMPLOYEES.name, on_delete="cascade", label=("员工", "Employee"), read_only=True, nullable=False
        ),
    },
    indexes=(Index("employee_id", unique=True), Index("sealed_by")),
    internal=("sealed", "sealed_by"),
)
SHOWN = shape(
    "EmployeePrivateDetails",
    employee_id=object_id(ref=EMPLOYEES.name, nullable=False),
    changed_at=timestamp(label=("修改时间", "Changed at"), description="Null if nothing was entered yet."),
    **_DETAILS,
)
BODY = shape(
    "EmployeePrivateDetailsChange",
    **{name: field.but(secret=True, description="Null takes it away.") for name, field in _DETAILS.items()},
)


class _Seal:
    """Encrypts details with the newest signing secret, and decrypts them with any that is known."""

    def __init__(self, service: Service) -> None:
        keys = [hashlib.sha256(b"hrm-private:" + one.encode()).digest() for one in service.signing_secrets]
        self._cipher = MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in keys])
        self.name = hashlib.sha256(keys[0]).hexdigest()[:16]

    def close(self, details: Record) -> Record:
        return {"sealed": self._cipher.encrypt(orjson.dumps(details)), "sealed_by": self.name}

    def open(self, sealed: object) -> Record:
        """Return the details. Raises 40901 if no known secret has encrypted them."""
        try:
            found: Record = orjson.loads(self._cipher.decrypt(cast(bytes, sealed)))
        except InvalidToken:
            raise ApiError(CONFLICT, UNREADABLE) from None
        return found


async def read(req: Request) -> Record:
    """Return the private details of a visible employee."""
    employee = await req.store(EMPLOYEES).get(req.path["id"])
    return _show(req, employee["id"], await _find(req, employee["id"]))


async def change(req: Request) -> Record:
    """Change private details of a visible employee; what the body does not name stays."""

    async def work() -> Record:
        employee = await req.store(EMPLOYEES).get(req.path["id"])
        await lock(req.service, employee["id"])
        store, before = req.system_store(PRIVATE), await _find(req, employee["id"])
        sealed = _Seal(req.service).close({**_open(req, before), **req.body})
        if before is None:
            return _show(req, employee["id"], await store.create({"employee_id": employee["id"], **sealed}))
        return _show(req, employee["id"], await store.update(before["id"], sealed))

    return await req.transaction(work)


async def copy_details(req: Request, employee_id: object, to: object) -> None:
    """Give the record `to` of a person the private details of an earlier one, within the caller's transaction."""
    if (row := await _find(req, employee_id)) is not None:
        sealed = {"sealed": row["sealed"], "sealed_by": row["sealed_by"]}
        await req.system_store(PRIVATE).create({"employee_id": to, **sealed})


async def _find(req: Request, employee_id: object) -> PrivateDetails | None:
    return await req.system_store(PRIVATE).find_one({"employee_id": employee_id})


def _open(req: Request, row: PrivateDetails | None) -> Record:
    return {} if row is None else _Seal(req.service).open(row["sealed"])


def _show(req: Request, employee_id: object, row: PrivateDetails | None) -> Record:
    about = {"employee_id": employee_id, "changed_at": row["updated_at"] if row is not None else None}
    return {**dict.fromkeys(_DETAILS), **_open(req, row), **about}


async def seal_again(service: Service) -> None:
    """Encrypt with the newest signing secret what an older one encrypted."""
    seal, store = _Seal(service), service.database.store(PRIVATE)
    for row in await store.find({"sealed_by": {"$ne": seal.name}}, limit=_BATCH):
        try:
            sealed = seal.close(seal.open(row["sealed"]))
        except ApiError:
            continue
        await store.update_unversioned({"_id": row["id"], "version": row["version"]}, {"$set": sealed})


SEALING = Job(
    "hrm.seal", 3600, seal_again, Message("以新密钥加密员工隐私信息", "Encrypt private details with a new key")
)
ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/hrm/employees/{id}/private",
        read,
        summary="Show the private details of an employee",
        title=("隐私信息", "Private details"),
        access="hrm:employee:private",
        returns=SHOWN,
        collection=EMPLOYEES.name,
        refusals=conflicts(UNREADABLE),
    ),
    route(
        "PATCH /api/v1/hrm/employees/{id}/private",
        change,
        summary="Change the private details of an employee",
        title=("隐私信息", "Private details"),
        access="hrm:employee:private",
        body=BODY,
        returns=SHOWN,
        collection=EMPLOYEES.name,
        refusals=conflicts(UNREADABLE),
    ),
)
