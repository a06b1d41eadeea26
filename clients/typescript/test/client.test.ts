/** The client in Node, against the server at TRADEWIND_URL. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { ApiError, Client, fieldErrors, memory } from "tradewind-client";
import { ERRORS } from "tradewind-client/constants";

const { TRADEWIND_URL: baseUrl = "", TRADEWIND_PASSWORD: password = "", TRADEWIND_EXPIRED: expired = "" } = process.env;
const sent: string[] = [];
let lose = 0; // answers that do not arrive
const fetching: typeof fetch = async (input, init) => {
  const answer = await fetch(input, init);
  sent.push(`${init?.method} ${answer.status} ${new URL(String(input)).pathname}`);
  if (lose > 0) {
    lose -= 1;
    throw new TypeError("the network failed");
  }
  return answer;
};
const client = new Client({ baseUrl, language: "en", fetch: fetching, retries: { first: 0.01 } });
const REFRESH = "POST 200 /api/v1/auth/refresh";

function unique(name: string): string {
  return `${name} ${process.pid}-${performance.now()}`;
}

function expire(): void {
  const tokens = client.session.tokens;
  assert(tokens);
  client.session.begin({ ...tokens, accessToken: expired });
  sent.length = 0;
}

before(() => client.logIn("admin", password));

test("twenty requests with an expired token make one refresh, and all are answered", async () => {
  expire();
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.get("/api/v1/auth/profile")));
  assert.deepEqual(new Set(answers.map(({ user }) => user.username)), new Set(["admin"]));
  assert.equal(sent.filter((one) => one === REFRESH).length, 1);
});

test("a refresh whose answer is lost is repeated, and the session goes on", async () => {
  expire();
  const asked = client.get("/api/v1/auth/profile");
  while (!sent.length) await new Promise(setImmediate);
  lose = 1;
  assert.equal((await asked).user.username, "admin");
  assert.equal(sent.filter((one) => one === REFRESH).length, 2);
});

test("a list has every record once", async () => {
  const ids = [];
  for await (const { id } of client.list("/api/v1/crm/customers", { query: { page_size: 7, with_total: false } })) ids.push(id);
  const { total } = await client.get("/api/v1/crm/customers", { query: { page_size: 1 } });
  assert.equal(ids.length, total);
  assert.equal(new Set(ids).size, total);
});

test("a write whose answer is lost is repeated and done once", async () => {
  const name = unique("Lost and found");
  lose = 1;
  sent.length = 0;
  await client.post("/api/v1/crm/customers", { body: { name } });
  assert.equal(sent.length, 2);
  assert.equal((await client.get("/api/v1/crm/customers", { query: { q: name } })).total, 1);
});

test("a write without a key is sent once", async () => {
  lose = 1;
  sent.length = 0;
  await assert.rejects(client.post("/api/v1/crm/customers", { body: { name: unique("Once") }, key: null }), TypeError);
  assert.equal(sent.length, 1);
});

test("a stale version is a value with the fields that were changed", async () => {
  const { id, version } = await client.post("/api/v1/crm/customers", { body: { name: unique("Twice") } });
  const change = (phone: string) => client.patch("/api/v1/crm/customers/{id}", { path: { id }, body: { version, phone } });
  await change("021-5555 0200");
  const second = await change("021-5555 0300").result();
  assert(!second.ok && second.error.code === ERRORS.stale.code);
  assert.deepEqual(second.error.data, { version: version + 1, changed: ["phone"] });
  assert(second.error.requestId);
});

test("a form gets a message for each field at fault", async () => {
  const refused = await client.post("/api/v1/crm/customers", { body: { name: "", level: "Z" } }).then(null, (error: unknown) => error);
  assert(refused instanceof ApiError);
  assert.deepEqual([...fieldErrors(refused).keys()].sort(), ["level", "name"]);
});

test("an answer of a proxy without an envelope is a refusal with its status", async () => {
  const away = new Client({ baseUrl, retries: { times: 0 }, fetch: async () => new Response("<h1>Bad gateway</h1>", { status: 502 }) });
  const refused = await away.get("/api/health").result();
  assert.equal(!refused.ok && refused.error.status, 502);
});

test("a file comes back as it was sent, by a form and by a signed address", async () => {
  const file = new Blob([unique("Two lamps, ").repeat(20_000)], { type: "text/plain" });
  const seen: number[] = [];
  const { objectKey } = await client.upload(file, "报价.txt", { onProgress: (bytes) => seen.push(bytes) });
  assert(seen.length > 1, "progress comes in steps");
  assert.equal(seen.at(-1), file.size);
  const direct = await client.uploadDirect(file, "direct.txt", { onProgress: (bytes) => seen.push(bytes) });
  for (const [key, name] of [[objectKey, "报价.txt"], [direct, "direct.txt"]] as const) {
    const found = await client.download("/api/file/dl", { query: { object_key: key } });
    assert.equal(found.name, name);
    assert.equal(await (await found.blob()).text(), await file.text());
  }
});

test("what has been aborted is not tried again", async () => {
  sent.length = 0;
  await assert.rejects(client.get("/api/v1/auth/profile", { signal: AbortSignal.abort() }), { name: "AbortError" });
  assert.deepEqual(sent, []);
});

test("a session that the service has ended ends here", async () => {
  const storage = memory();
  const [device, other] = [new Client({ baseUrl, storage }), new Client({ baseUrl, storage })];
  await device.logIn("admin", password);
  const heard: boolean[] = [];
  device.session.subscribe((loggedIn) => heard.push(loggedIn));
  const kept = device.session.tokens;
  await other.logOut();
  assert(kept);
  device.session.begin(kept);
  const refused = await device.get("/api/v1/auth/profile").result();
  assert.equal(!refused.ok && refused.error.code, ERRORS.unauthenticated.code);
  assert.deepEqual(heard, [true, false]);
  assert.equal(device.session.tokens, null);
});
