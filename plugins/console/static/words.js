// The texts of the shell itself, the choice of the language, and helpers to make elements.

const WORDS = {
  after: ["下一条", "Next"], again: ["重试", "Try again"], all: ["查看全部", "See all"], allRead: ["全部标为已读", "Mark all as read"],
  back: ["返回继续编辑", "Continue editing"], before: ["上一条", "Previous"], change: ["修改密码", "Change password"], clear: ["清除", "Clear"],
  clearAll: ["清除全部", "Clear all"], close: ["关闭", "Close"], closePage: ["关闭页面 {title}", "Close the page {title}"], columns: ["选择列", "Columns"],
  conflict: ["保存前，其他人修改了这条记录", "Somebody else changed this record before you saved"], dark: ["深色", "Dark"],
  department: ["本部门可见", "For my department"], everybody: ["所有人可见", "For everybody"],
  expired: ["登录已过期，请重新登录，页面内容不会丢失", "Your session has ended. Log in again; nothing on the page is lost"],
  failed: ["服务暂时无法访问", "The service cannot be reached at the moment"], field: ["字段", "Field"],
  find: ["搜索菜单和记录", "Search pages and records"], findMenu: ["筛选菜单", "Filter the menu"],
  first: ["请先修改密码，再继续使用", "Change your password before you continue"], fold: ["折叠或展开菜单", "Fold or unfold the menu"],
  home: ["首页", "Home"], inbox: ["消息", "Inbox"],
  keep: ["保存当前视图", "Save the current view"], language: ["English", "中文"], light: ["浅色", "Light"],
  locked: ["账号已锁定，请在 {minutes} 分钟后再试", "The account is locked; try again in {minutes} {minutes:minute|minutes}"], login: ["登录", "Log in"],
  logout: ["退出登录", "Log out"], menu: ["菜单", "Menu"], mine: ["我填写的", "Mine"],
  missing: ["页面不存在，或没有查看权限", "There is no such page, or you may not see it"], name: ["名称", "Name"],
  noNews: ["没有消息", "There are no messages"], none: ["没有找到", "Nothing found"],
  moreCells: ["更多字段", "More fields"],
  monthAfter: ["下个月", "Next month"], monthBefore: ["上个月", "Previous month"],
  nth: ["第 {number} 行", "no. {number}"], waits: ["没有适用的审批流程；如尚未批准，已通知有审批权限的人", "No approval flow applies. Unless it is approved already, whoever may approve it has been notified"],
  newPassword: ["新密码", "New password"], next: ["下一页", "Next page"], no: ["否", "No"], nothing: ["（空）", "(empty)"],
  oldPassword: ["当前密码", "Current password"], onlyMe: ["仅自己可见", "Only for me"], open: ["查看", "Open"], opened: ["打开的页面", "Open pages"],
  page: ["页码", "Page number"], password: ["密码", "Password"], person: ["个人设置", "My settings"], place: ["当前位置", "You are here"],
  previous: ["上一页", "Previous page"], recent: ["最近访问", "Recent"], refresh: ["刷新", "Refresh"], remove: ["删除", "Delete"],
  report: ["成功 {done} 条，失败 {failed} 条", "{done} done, {failed} failed"], rows: ["全表浏览", "All rows"], same: ["未修改", "Unchanged"],
  save: ["保存所选内容", "Save the chosen values"], search: ["搜索", "Search"], shared: ["谁可以看到", "Who sees it"], skip: ["跳到内容", "Skip to the content"],
  star: ["收藏此页", "Add this page to the favourites"], starred: ["收藏", "Favourites"], theirs: ["对方修改后", "Theirs"], todo: ["待办", "To do"],
  unstar: ["取消收藏", "Remove this page from the favourites"], username: ["用户名", "User name"], views: ["视图", "Views"],
  was: ["原来的值", "Before"], why: ["为什么？", "Why?"], yes: ["是", "Yes"],
  address: ["链接地址", "Address of the link"], bold: ["加粗", "Bold"], bullets: ["项目符号", "Bullets"], heading: ["标题", "Heading"],
  italic: ["斜体", "Italic"], link: ["链接", "Link"], numbers: ["编号", "Numbers"], paragraph: ["正文", "Text"], picture: ["图片", "Picture"],
  plainText: ["清除格式", "Clear format"], quote: ["引用", "Quote"], undo: ["撤销", "Undo"],
  checked: ["检查完成，尚未写入：将新增 {created} 条，更新 {updated} 条，{failed} 行有误", "Checked; nothing is written yet: {created} would be new, {updated} changed, {failed} {failed:row has|rows have} faults"],
  checking: ["正在检查…", "Checking…"], chooseFile: ["选择文件", "Choose a file"], column: ["列", "Column"],
  denied: ["未获得定位权限：请在浏览器的网站设置中允许定位，再点击“获取当前位置”", "The position is not allowed: allow it for this site in the browser’s settings, then press “Use my position”"],
  discard: ["放弃未保存的修改吗？", "Discard unsaved changes?"], dropDraft: ["清空", "Start over"], dropFile: ["也可以将文件拖到这里", "or drop it here"], faultList: ["下载问题清单", "Download the faults"], faultRows: ["下载有误的行", "Download the faulty rows"],
  faults: ["问题", "faults"], locate: ["获取当前位置", "Use my position"], located: ["{lng}, {lat}（±{metres} 米）", "{lng}, {lat} (±{metres} m)"],
  locating: ["正在定位…", "Finding your position…"], otherFile: ["换一个文件", "Another file"], problem: ["问题", "Problem"],
  progress: ["已处理 {done} / {total} 行", "{done} of {total} rows"], red: ["请检查标红的字段", "Check the fields marked in red"], restored: ["已恢复未提交的内容", "What you had not sent yet is restored"], row: ["行", "Row"],
  stepCheck: ["检查", "Check"], stepFile: ["选择文件", "File"], stepWrite: ["写入", "Write"], template: ["下载模板", "Download template"],
  insecure: ["浏览器仅在 https 页面上提供定位，请联系管理员", "Browsers give a position only to pages over https; ask an administrator"],
  unlocated: ["无法获取位置：请检查设备的定位服务，稍后重试", "Your position could not be found: check the location service of the device, and try again"], writeRows: ["写入 {count} 条", "Write {count} {count:record|records}"],
  writing: ["正在写入…", "Writing…"],
  written: ["已写入：新增 {created} 条，更新 {updated} 条，未变化 {unchanged} 条，{failed} 行有误、未写入", "Written: {created} new, {updated} changed, {unchanged} unchanged; {failed} {failed:row|rows} with faults {failed:was|were} not written"],
  addCondition: ["添加条件", "Add a condition"], addNode: ["在此添加节点", "Add a node here"], addBranch: ["添加分支", "Add a branch"], addBranches: ["在此添加条件分支", "Add branches here"],
  addLane: ["添加并行线", "Add a lane"], addLanes: ["在此添加并行审批", "Add parallel lanes here"], branches: ["条件分支", "Branches"], lanes: ["并行审批", "Lanes"],
  otherwise: ["其他情况", "In all other cases"], partName: ["名称", "Name"], always: ["适用于所有单据", "For all of them"],
  anyone: ["任一人同意", "Anyone agrees"], atLeast: ["至少 {count} 人同意", "At least {count} agree"], conditions: ["适用条件", "Conditions"],
  copied: ["抄送", "Copied people"], ends: ["结束", "End"], everyone: ["所有人同意", "Everyone agrees"], moveDown: ["下移", "Move down"],
  moveUp: ["上移", "Move up"], nobody: ["无", "Nobody"], node: ["审批节点", "Node"], noFlow: ["没有适用的流程", "No flow applies"],
  submits: ["发起人提交", "The initiator submits"], unmet: ["未满足：", "not met:"], value: ["值", "Value"],
  chooseFiles: ["选择文件", "Choose files"], choosePicture: ["选择图片", "Choose a picture"], dropFiles: ["也可以将文件拖到这里", "or drop them here"],
  asks: ["等待 {name} 处理", "Waiting for {name}"], asksAlone: ["等待 {name} 处理。持有此链接即可处理，请勿转发", "Waiting for {name}. Whoever has this link can decide: do not pass it on"],
  comment: ["意见", "Comment"], decided: ["已处理：{action}", "Done: {action}"], needsComment: ["请填写意见", "Write a comment first"], openConsole: ["打开控制台", "Open the console"],
  noFiles: ["还没有附件", "No files yet"], removeFile: ["确定移除附件“{name}”吗？", "Remove the file “{name}”?"], takePhoto: ["拍照", "Take a photo"],
};

/** The language of the page: the one that was chosen, else the browser's. */
export const language = localStorage.getItem("tradewind.language") ?? (navigator.language.startsWith("zh") ? "zh" : "en");

/** Return a text of the shell in this language, with its {placeholders} replaced: `{count:row|rows}` is the first word for one. */
export function say(name, values = {}) {
  const text = WORDS[name][language === "en" ? 1 : 0];
  return text.replace(/\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g, (whole, key, one, many) => (many ? (values[key] === 1 ? one : many) : String(values[key] ?? whole)));
}

/** Set the language or the theme, and reload the page with the renderer's files for it. */
export function choose(name, value) {
  localStorage.setItem(`tradewind.${name}`, value);
  location.reload();
}

/** Return an element with these properties and children; texts are never markup. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made && !name.includes("-")) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

let drawings = null;

/** Load the icons, which `icon` draws. */
export async function loadIcons() {
  drawings = new DOMParser().parseFromString(await (await fetch("console/icons.svg")).text(), "image/svg+xml").documentElement;
}

/** Return an icon by its name, such as `bell` or `lucide:bell`; for an unknown one, the first letter of `title`. */
export function icon(name, title = "") {
  const symbol = drawings.querySelector(`[id="${CSS.escape((name ?? "").split(":").pop())}"]`);
  if (!symbol) return element("span", { className: "glyph letter", ariaHidden: "true", textContent: [...title][0] ?? "" });
  const drawn = document.importNode(drawings, false);
  for (const [attribute, value] of Object.entries({ class: "glyph", viewBox: "0 0 24 24", "aria-hidden": "true" })) drawn.setAttribute(attribute, value);
  drawn.append(...document.importNode(symbol, true).childNodes);
  return drawn;
}

/** Return a button that shows an icon; its name is the text that others read. */
export function iconButton(name, label, act, properties = {}) {
  const made = element("button", { type: "button", title: label, ariaLabel: label, ...properties }, icon(name));
  made.addEventListener("click", act);
  return made;
}

/** Return a panel and make `opener` open it below itself; a click elsewhere or Escape closes it. */
export function panel(opener, className, label, ...children) {
  const made = element("div", { className, popover: "auto", role: "dialog", ariaLabel: label }, ...children);
  opener.popoverTargetElement = made;
  return made;
}

/** Return a button that calls `act`. */
export function button(textContent, act) {
  const made = element("button", { type: "button", textContent });
  made.addEventListener("click", act);
  return made;
}

/** Return the form or question of the renderer that is on top, or null. */
export const onTop = () => [...document.querySelectorAll(":is(.antd-Drawer, .dark-Drawer, .antd-Modal, .dark-Modal)")].at(-1) ?? null;

/** Let the browser save a file under this name. */
export function download(name, file) {
  const href = URL.createObjectURL(file);
  element("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** Open a dialogue above the page, with this heading; key presses in it do not reach the page below. Its `close` gives the focus back. */
export function dialogue(className, heading, ...children) {
  const dialog = element("dialog", { className, "aria-label": heading }, element("h1", { textContent: heading }), ...children);
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
