"""E-invoices for tests: XML, and OFD with digests and a seal, as the published structures say."""

from __future__ import annotations

import base64
import io
import secrets
import zipfile
from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives import hashes
from gmalg import SM2

IDENTITY = b"1234567812345678"
SM3, SM2_SM3 = "1.2.156.10197.1.401", bytes.fromhex("2a811ccf55018375")
OFD = 'xmlns:ofd="http://www.ofdspec.org/2016"'
SELLER, BUYER = ("云杉示例软件有限公司", "91310000MA1SELLER1"), ("信风示例贸易有限公司", "91310000MA1BUYER01")
Files = dict[str, bytes]


def fresh_number(size: int = 20) -> str:
    """The number of an invoice that no other test has."""
    return "".join(secrets.choice("123456789") for _ in range(size))


def digitalised(
    number: str, *, amount: str = "100.00", tax: str = "13.00", total: str = "113.00", **more: Any
) -> bytes:
    """The XML of a fully digitalised e-invoice with a discounted line and another one."""
    seller = more.get("seller", SELLER)
    lines = more.get("lines", LINES)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<EInvoice><Header><EIid>{number}</EIid><EInvoiceTag>SWEI3100</EInvoiceTag><InherentLabel>
<EInvoiceType><LabelCode>01</LabelCode><LabelName>电子发票</LabelName></EInvoiceType>
<GeneralOrSpecialVAT><LabelCode>01</LabelCode><LabelName>增值税专用发票</LabelName></GeneralOrSpecialVAT>
</InherentLabel></Header><EInvoiceData>
<SellerInformation><SellerIdNum>{seller[1]}</SellerIdNum><SellerName>{seller[0]}</SellerName></SellerInformation>
<BuyerInformation><BuyerIdNum>{BUYER[1]}</BuyerIdNum><BuyerName>{BUYER[0]}</BuyerName></BuyerInformation>
<BasicInformation><TotalAmWithoutTax>{amount}</TotalAmWithoutTax><TotalTaxAm>{tax}</TotalTaxAm>
<TotalTax-includedAmount>{total}</TotalTax-includedAmount><RequestTime>2026-11-05 09:47:14</RequestTime></BasicInformation>
{lines}</EInvoiceData>
<TaxSupervisionInfo><InvoiceNumber>{number}</InvoiceNumber><IssueTime>2026-11-05</IssueTime></TaxSupervisionInfo>
{more.get("end", "")}</EInvoice>""".encode()


def _line(name: str, amount: str, tax: str, priced: str = "") -> str:
    rate = "<TaxRate>0.130000</TaxRate>"
    return (
        f"<IssuItemInformation><ItemName>{name}</ItemName>{priced}<Amount>{amount}</Amount>{rate}"
        f"<ComTaxAm>{tax}</ComTaxAm></IssuItemInformation>"
    )


_PRICED = "<MeaUnits>套</MeaUnits><Quantity>3</Quantity><UnPrice>30.0000000000000</UnPrice>"
LINES = (
    _line("*软件*许可", "90.00", "11.70", _PRICED)
    + _line("*软件*许可", "-10.00", "-1.30")
    + _line("*信息技术服务*安装", "20.00", "2.60")
)


def older(number: str, code: str) -> bytes:
    """The XML that is attached to the OFD of an invoice with a code and a number."""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<eInvoice xmlns:fp="http://www.edrm.org.cn/schema/e-invoice/2019"><fp:InvoiceCode>{code}</fp:InvoiceCode>
<fp:InvoiceNo>{number}</fp:InvoiceNo><fp:IssueDate>2026年11月05日</fp:IssueDate>
<fp:Buyer><fp:BuyerName>{BUYER[0]}</fp:BuyerName><fp:BuyerTaxID>{BUYER[1]}</fp:BuyerTaxID></fp:Buyer>
<fp:Seller><fp:SellerName>{SELLER[0]}</fp:SellerName><fp:SellerTaxID>{SELLER[1]}</fp:SellerTaxID></fp:Seller>
<fp:TaxInclusiveTotalAmount>318.00</fp:TaxInclusiveTotalAmount><fp:TaxTotalAmount>18.00</fp:TaxTotalAmount>
<fp:TaxExclusiveTotalAmount>300.00</fp:TaxExclusiveTotalAmount><fp:GoodsInfos><fp:GoodsInfo><fp:Item>餐费</fp:Item>
<fp:Price>25</fp:Price><fp:Quantity>12</fp:Quantity><fp:Amount>300.00</fp:Amount><fp:TaxScheme>6%</fp:TaxScheme>
<fp:TaxAmount>18.00</fp:TaxAmount></fp:GoodsInfo></fp:GoodsInfos></eInvoice>""".encode()


def attached(invoice: bytes) -> Files:
    """The files of an OFD with the data of the invoice attached."""
    return {"OFD.xml": _main(), "Doc_0/Document.xml": b"<Document/>", "Doc_0/Attachs/original_invoice.xml": invoice}


def drawn(number: str) -> Files:
    """The files of an OFD whose tags name the texts that say number and amounts; the parties are in its properties."""
    shown = {
        "InvoiceNo": number,
        "IssueDate": "2026年11月05日",
        "TaxExclusiveTotalAmount": "¥1,300.00",
        "TaxTotalAmount": "***",
        "TaxInclusiveTotalAmount": "¥1,300.00",
    }
    tags = "".join(
        f"<fp:{name}><ofd:ObjectRef PageRef='1'>{id}</ofd:ObjectRef></fp:{name}>" for id, name in enumerate(shown)
    )
    texts = "".join(
        f"<ofd:TextObject ID='{id}'><ofd:TextCode><![CDATA[{text}]]></ofd:TextCode></ofd:TextObject>"
        for id, text in enumerate(shown.values())
    )
    properties = f"<ofd:CustomData Name='销售方名称'>{SELLER[0]}</ofd:CustomData>"
    return {
        "OFD.xml": _main(properties),
        "Doc_0/Tags/CustomTag.xml": f"<eInvoice {OFD} xmlns:fp='fp'>{tags}</eInvoice>".encode(),
        "Doc_0/Pages/Page_0/Content.xml": f"<ofd:Page {OFD}>{texts}</ofd:Page>".encode(),
    }


def _main(properties: str = "") -> bytes:
    return (
        f"<ofd:OFD {OFD}><ofd:DocBody><ofd:DocInfo><ofd:CustomDatas>{properties}</ofd:CustomDatas></ofd:DocInfo>"
        f"<ofd:DocRoot>Doc_0/Document.xml</ofd:DocRoot><ofd:Signatures>/Doc_0/Signs/Signatures.xml</ofd:Signatures>"
        f"</ofd:DocBody></ofd:OFD>"
    ).encode()


def pack(files: Mapping[str, bytes]) -> bytes:
    """A ZIP of these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def sm3(content: bytes) -> bytes:
    digest = hashes.Hash(hashes.SM3())
    digest.update(content)
    return digest.finalize()


class Signer:
    """Somebody with an SM2 key and a certificate, of their own or of an issuer."""

    def __init__(self, name: str = "示例税务局", issuer: Signer | None = None) -> None:
        self._secret, self._key = SM2().generate_keypair()
        self.name = name
        self.certificate = self._certify(issuer or self)

    def sign(self, message: bytes) -> bytes:
        """The signature of a message in DER."""
        numbers = SM2(sk=self._secret, uid=IDENTITY, pk=self._key).sign(message)
        return _der(0x30, *(_der(0x02, b"\0" + one) for one in numbers))

    @property
    def pem(self) -> str:
        text = base64.encodebytes(self.certificate).decode()
        return f"-----BEGIN CERTIFICATE-----\n{text}-----END CERTIFICATE-----\n"

    def _certify(self, issuer: Signer) -> bytes:
        algorithm = _der(0x30, _der(0x06, SM2_SM3))
        curve, key = bytes.fromhex("2a811ccf5501822d"), bytes.fromhex("2a8648ce3d0201")
        issued, of = (
            _der(0x30, _der(0x31, _der(0x30, _der(0x06, b"\x55\x04\x03"), _der(0x0C, one.name.encode()))))
            for one in (issuer, self)
        )
        may_issue = _der(0x04, _der(0x30, _der(0x01, b"\xff")))
        more = _der(0xA3, _der(0x30, _der(0x30, _der(0x06, b"\x55\x1d\x13"), may_issue)))
        period = _der(0x30, _der(0x17, b"250101000000Z"), _der(0x17, b"350101000000Z"))
        public = _der(0x30, _der(0x30, _der(0x06, key), _der(0x06, curve)), _der(0x03, b"\0" + self._key))
        version = _der(0xA0, _der(0x02, b"\2"))
        signed = _der(0x30, version, _der(0x02, b"\1"), algorithm, issued, period, of, public, more)
        return _der(0x30, signed, algorithm, _der(0x03, b"\0" + issuer.sign(signed)))

    def seal(self, files: Files, *, leaves_out: str = "", first_form: bool = False) -> Files:
        """The files with digests of all of them in `Signature.xml`, and a seal over that: GB/T 38540, or GM/T 0031."""
        at = "Doc_0/Signs/Sign_0"
        listed = "".join(
            f"<ofd:Reference FileRef='/{name}'><ofd:CheckValue>{base64.b64encode(sm3(content)).decode()}</ofd:CheckValue>"
            "</ofd:Reference>"
            for name, content in files.items()
            if name != leaves_out
        )
        signature = (
            f"<ofd:Signature {OFD}><ofd:SignedInfo><ofd:SignatureDateTime>20261105094714Z</ofd:SignatureDateTime>"
            f"<ofd:References CheckMethod='{SM3}'>{listed}</ofd:References></ofd:SignedInfo>"
            "<ofd:SignedValue>SignedValue.dat</ofd:SignedValue></ofd:Signature>"
        ).encode()
        time, hash = b"20261105094714Z", _der(0x03, b"\0" + sm3(signature))
        by, place = (_der(0x04, self.certificate), _der(0x06, SM2_SM3)), _der(0x16, f"/{at}/Signature.xml".encode())
        when = _der(0x03, b"\0" + time) if first_form else _der(0x18, time)
        signed = _der(0x30, _der(0x02, b"\4"), _der(0x30), when, hash, place, *(by if first_form else ()))
        value = _der(0x03, b"\0" + self.sign(signed))
        sealed = _der(0x30, signed, *(() if first_form else by), value)
        index = (
            f"<ofd:Signatures {OFD}><ofd:Signature ID='1' Type='Seal' BaseLoc='Sign_0/Signature.xml'/></ofd:Signatures>"
        )
        more = {"Signatures.xml": index.encode(), "Sign_0/Signature.xml": signature, "Sign_0/SignedValue.dat": sealed}
        return {**files, **{f"Doc_0/Signs/{name}": content for name, content in more.items()}}


def _der(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    size = len(content)
    many = size.to_bytes((size.bit_length() + 7) // 8, "big")
    length = bytes([size]) if size < 0x80 else bytes([0x80 | len(many)]) + many
    return bytes([tag]) + length + content
