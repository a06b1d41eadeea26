/** The client: requests typed by their paths, on the session, files and notifications of one service. */

import { ApiError, type Envelope, type Refusal, refusalOf, type Result } from "./errors.js";
import { type Download, downloadOf, type Progress, sendFile } from "./files.js";
import { listen, type ListenOptions, type Message } from "./notifications.js";
import type { paths } from "./schema.js";
import { memory, Session, type Tokens, type TokenStorage } from "./session.js";
import { newKey, type Outgoing, RETRIES, type Retries, type Send, sendSafely } from "./transport.js";
import type { Arguments, Common, Data, FilePath, Item, ListPath, Method, Operation, PathOf, Refused } from "./types.js";

export interface ClientOptions {
  /** The address of the service; a page that comes from it needs none. */
  baseUrl?: string;
  /** The language of messages and labels. */
  language?: "zh" | "en";
  /** Where tokens are kept: by default `localStorage` in browsers, and in memory elsewhere. */
  storage?: TokenStorage;
  /** How requests are tried again. */
  retries?: Partial<Retries>;
  /** How long a request waits for its answer, in seconds. Uploads wait for as long as they take. */
  timeout?: number;
  /** What sends requests, and what opens WebSockets, where the platform has none or other ones are wanted. */
  fetch?: typeof fetch;
  WebSocket?: typeof WebSocket;
}

/** A call: a promise of `data` that refusals reject with an `ApiError`, or with `result()`, of either as a value. */
export interface Answer<D, E> extends Promise<D> {
  result(): Promise<Result<D, E>>;
}

export interface UploadOptions {
  visibility?: "private" | "public";
  onProgress?: Progress;
  signal?: AbortSignal;
  /** The idempotency key; by default each upload has a new one. */
  key?: string;
}

type UploadOperation = paths["/api/upload"]["post"];
type Upload = Data<UploadOperation>;
type Given = Common & { path?: object; query?: object; body?: unknown };
type Verb<P, M extends Method> = <K extends PathOf<P, M>>(
  path: K,
  ...options: Arguments<Operation<P, K, M>>
) => Answer<Data<Operation<P, K, M>>, Refused<Operation<P, K, M>>>;
type LogIn = paths["/api/v1/auth/login"]["post"];

/** A client of one service. `Paths` is by default the API of all plugins that come with Tradewind. */
export class Client<Paths = paths> {
  readonly session: Session;
  readonly get: Verb<Paths, "get"> = (path, ...[options]) => this.#call("get", path, options);
  readonly post: Verb<Paths, "post"> = (path, ...[options]) => this.#call("post", path, options);
  readonly put: Verb<Paths, "put"> = (path, ...[options]) => this.#call("put", path, options);
  readonly patch: Verb<Paths, "patch"> = (path, ...[options]) => this.#call("patch", path, options);
  readonly delete: Verb<Paths, "delete"> = (path, ...[options]) => this.#call("delete", path, options);
  readonly #baseUrl: string;
  readonly #retries: Retries;
  readonly #fetch: typeof fetch;

  constructor(private readonly options: ClientOptions = {}) {
    const page = (globalThis as { location?: Location }).location;
    this.#baseUrl = (options.baseUrl ?? page?.origin ?? "").replace(/\/$/, "");
    this.#retries = { ...RETRIES, ...options.retries };
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
    const storage = options.storage ?? (typeof window === "undefined" ? memory() : localStorage);
    this.session = new Session(`tradewind:${this.#baseUrl}`, storage, (token) => this.#exchange(token));
  }

  /** Log in with a password. Other log-ins end with `session.begin(tokensOf(…))`. */
  logIn(username: string, password: string): Answer<Data<LogIn>, Refused<LogIn>> {
    return answer(
      this.#outcome<Data<LogIn>, Refused<LogIn>>("post", "/api/v1/auth/login", {
        body: { username, password },
        key: null,
      }).then((result) => {
        if (result.ok) {
          this.session.begin(tokensOf(result.data));
        }
        return result;
      }),
    );
  }

  /** End the session, here in any case, and at the service if it can be reached. */
  async logOut(): Promise<void> {
    try {
      await this.#outcome("post", "/api/v1/auth/logout", {});
    } finally {
      this.session.end();
    }
  }

  /** All records of a list, page by page. `with_total: false` in the query saves a count where a list takes it. */
  async *list<K extends ListPath<Paths>>(
    path: K,
    ...[options]: Arguments<Operation<Paths, K, "get">>
  ): AsyncGenerator<Item<Data<Operation<Paths, K, "get">>>, void> {
    const given: Given = options ?? {};
    type Page = { items: Item<Data<Operation<Paths, K, "get">>>[]; next_cursor: string | null };
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const query = { page_size: 100, ...given.query, cursor };
      const page: Page = await this.#call<Page, Envelope>("get", path, { ...given, query });
      yield* page.items;
      cursor = page.next_cursor;
    }
  }

  /** Upload a file by a form. `onProgress` hears how far it is. */
  upload(file: Blob, name: string, { visibility = "private", onProgress, ...options }: UploadOptions = {}): Answer<Upload, Refused<UploadOperation>> {
    const body = new FormData();
    body.set("visibility", visibility);
    body.set("file", file, name);
    const send = (one: Outgoing) => sendFile(one, file.size, onProgress ?? (() => undefined), this.#fetch);
    return answer(
      this.session.fresh().then(() => this.#outcome<Upload, Refused<UploadOperation>>("post", "/api/upload", { body, ...options }, send)),
    );
  }

  /** Upload a file straight to the storage, which may be S3, by a signed address. Returns its `objectKey`. */
  async uploadDirect(file: Blob, name: string, { visibility = "private", onProgress, signal }: UploadOptions = {}): Promise<string> {
    type Signed = Data<paths["/api/upload/sts"]["get"]>;
    const query = { file_name: name, content_type: file.type, size: file.size, visibility };
    const signed: Signed = await this.#call<Signed, Envelope>("get", "/api/upload/sts", { query, ...(signal && { signal }) });
    const { uploadUrl, method, headers, objectKey } = signed;
    const url = new URL(uploadUrl, this.#baseUrl).href;
    const put = { method, url, headers: headers as Record<string, string>, body: file, signal, repeatable: false };
    const sent = await sendFile(put, file.size, onProgress ?? (() => undefined), this.#fetch);
    if (!sent.ok) {
      throw new ApiError(await refusalOf(sent));
    }
    return objectKey;
  }

  /** Download from a path that answers with a file. */
  async download<K extends FilePath<Paths>>(path: K, ...[options]: Arguments<Operation<Paths, K, "get">>): Promise<Download> {
    const response = await this.#respond("get", path, options ?? {});
    if (!response.ok) {
      throw new ApiError(await refusalOf(response));
    }
    return downloadOf(response);
  }

  /** Hear notifications, the number of unread ones and progress, until `signal` or the end of the session. */
  listen(hear: (message: Message) => void, options: ListenOptions = {}): Promise<void> {
    const url = `${this.#baseUrl.replace(/^http/, "ws")}/api/v1/notifications/ws`;
    const check = () => this.#outcome("get", "/api/v1/auth/profile", options.signal ? { signal: options.signal } : {});
    return listen(url, this.session, this.options.WebSocket ?? WebSocket, hear, check, this.#retries, options);
  }

  #call<D, E>(method: Method, path: string, options: Given = {}): Answer<D, E> {
    return answer(this.#outcome<D, E>(method, path, options));
  }

  async #outcome<D, E = Envelope>(method: Method, path: string, options: Given, send?: Send): Promise<Result<D, E>> {
    const response = await this.#respond(method, path, options, send);
    if (response.ok) {
      return { ok: true, data: ((await response.json()) as { data: D }).data };
    }
    return { ok: false, error: (await refusalOf(response)) as Refusal<unknown> as Refusal<E> };
  }

  #respond(method: Method, path: string, options: Given, send: Send = this.#send): Promise<Response> {
    const key = method === "get" ? null : options.key === undefined ? newKey() : options.key;
    const form = options.body instanceof FormData;
    const request: Outgoing = {
      method: method.toUpperCase(),
      url: this.#baseUrl + addressOf(path, options.path, options.query),
      headers: {
        "Accept-Language": this.options.language ?? "zh",
        ...(key && { "Idempotency-Key": key }),
        ...(options.body !== undefined && !form && { "Content-Type": "application/json" }),
        ...options.headers,
      },
      body: form ? (options.body as FormData) : options.body === undefined ? undefined : JSON.stringify(options.body),
      signal: options.signal,
      repeatable: method === "get" || key !== null,
    };
    return sendSafely((one) => this.#authorized(one, send), request, this.#retries);
  }

  /** Send with the access token; if it has expired, send again with a new one. */
  async #authorized(request: Outgoing, send: Send): Promise<Response> {
    const tokens = this.session.tokens;
    const first = await send(signed(request, tokens));
    const code = first.status === 401 && tokens ? (await refusalOf(first.clone())).code : 0;
    if (code === 40101) {
      const renewed = await this.session.renew(tokens?.accessToken ?? "");
      return renewed ? send(signed(request, renewed)) : first;
    }
    if (code === 40100 && this.session.tokens?.accessToken === tokens?.accessToken) {
      this.session.end();
    }
    return first;
  }

  async #exchange(refreshToken: string): Promise<Tokens | null> {
    const response = await sendSafely(
      this.#send,
      {
        method: "POST",
        url: `${this.#baseUrl}/api/v1/auth/refresh`,
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ refreshToken }),
        repeatable: true, // for a few seconds the service gives the same new tokens again
      },
      this.#retries,
    );
    if (response.ok) {
      return tokensOf(((await response.json()) as { data: Data<paths["/api/v1/auth/refresh"]["post"]> }).data);
    }
    if (response.status === 429 || response.status >= 500) {
      throw new ApiError(await refusalOf(response));
    }
    return null;
  }

  readonly #send: Send = async ({ method, url, headers, body, signal }) => {
    const control = new AbortController();
    const late = () => control.abort(new DOMException(`${method} ${url} had no answer in time`, "TimeoutError"));
    const timer = setTimeout(late, (this.options.timeout ?? 60) * 1000);
    try {
      const either = signal ? AbortSignal.any([control.signal, signal]) : control.signal;
      return await this.#fetch(url, { method, headers, body: body ?? null, signal: either });
    } finally {
      clearTimeout(timer);
    }
  };
}

/** The tokens in the answer of a log-in or a refresh. */
export function tokensOf(given: { accessToken: string; refreshToken: string; expiresIn: number }): Tokens {
  const { accessToken, refreshToken, expiresIn } = given;
  return { accessToken, refreshToken, expiresAt: Date.now() + expiresIn * 1000 };
}

function answer<D, E>(outcome: Promise<Result<D, E>>): Answer<D, E> {
  const data = outcome.then((result) => {
    if (result.ok) {
      return result.data;
    }
    throw new ApiError(result.error as Refusal<unknown> as Refusal<Envelope>);
  });
  const result = () => {
    data.catch(() => undefined); // whoever asks for the result hears of it there
    return outcome;
  };
  return Object.assign(data, { result });
}

function signed(request: Outgoing, tokens: Tokens | null): Outgoing {
  return tokens ? { ...request, headers: { ...request.headers, Authorization: `Bearer ${tokens.accessToken}` } } : request;
}

function addressOf(path: string, values: object = {}, query: object = {}): string {
  const given = new Map(Object.entries(values));
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(given.get(name))));
  const asked = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const search = new URLSearchParams(asked.map(([name, value]) => [name, String(value)])).toString();
  return search ? `${filled}?${search}` : filled;
}
