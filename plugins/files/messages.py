"""The messages of files."""

from plugins.api import Message

TYPE_REFUSED = Message(
    "不支持的文件类型：{type}；可接受：{accepted}",
    "Files of this type are not accepted: {type}; accepted are {accepted}",
)
TYPE_CONTRADICTS = Message(
    "文件内容与文件名或类型不符：{type}", "The content does not match the name or the type: {type}"
)
TWO_THINGS = Message("文件同时符合另一种文件格式", "The file is also valid in another file format")
BROKEN_IMAGE = Message(
    "图片已损坏、像素过多或包含其他数据", "The image is broken, has too many pixels, or contains other data"
)
ACTIVE_SVG = Message(
    "SVG 已损坏或包含脚本、外部引用", "The SVG is broken, or contains a script or an external reference"
)
FILE_TOO_LARGE = Message("文件过大，最大 {bytes} 字节", "The file is too large; at most {bytes} bytes")
OTHER_THAN_SIGNED = Message(
    "上传内容与签名不符，或签名已过期", "The upload does not match the signature, or the signature has expired"
)
UPLOADED_ALREADY = Message("该地址已上传过文件", "A file was already uploaded to this address")
STORAGE_AWAY = Message("文件存储暂不可用，请稍后重试", "The file storage is unavailable; try again later")
EVIDENCE = Message(
    "单据已提交或已审批，附件不能移除，只能追加",
    "The record is submitted or decided: its attachments can be added to, but not removed",
)
KEPT = Message("评论中引用了该附件，不能移除", "A comment refers to the attachment: it cannot be removed")
NOT_YOURS_TO_DELETE = Message(
    "只有上传者或可修改该记录的人可以删除附件",
    "Only the uploader, or someone who may change the record, can delete the attachment",
)

# shown by GET /authorization/explain
NOT_READABLE = Message(
    "没有该文件，或您无权读取：它不是公开文件、不是您上传的，也未附在您能看到的记录上",
    "There is no such file, or you may not read it: it is not public, not uploaded by you, and not attached to a "
    "record that you can see",
)
NOT_PUBLIC = Message("没有该公开文件", "There is no such public file")
RECORD_UNSEEN = Message("没有该业务记录，或您无权查看", "There is no such business record, or you may not see it")
NO_ATTACHMENT = Message(
    "没有该附件，或您无权查看其业务记录",
    "There is no such attachment, or you may not see the record that it is attached to",
)
