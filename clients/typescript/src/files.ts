/** Sends files with progress, and reads the names of those that come. */

import type { Outgoing } from "./transport.js";

/** Hears how many bytes of a file are on their way. */
export type Progress = (sent: number, total: number) => void;

/** A file from the service. Read it once, by `blob()`, or piece by piece from `body`. */
export interface Download {
  name: string;
  type: string;
  body: ReadableStream<Uint8Array> | null;
  blob(): Promise<Blob>;
}

/** The file in a response. */
export function downloadOf(response: Response): Download {
  return {
    name: nameIn(response.headers.get("Content-Disposition") ?? ""),
    type: response.headers.get("Content-Type") ?? "",
    body: response.body,
    blob: () => response.blob(),
  };
}

function nameIn(disposition: string): string {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition)?.[1];
  return encoded ? decodeURIComponent(encoded) : (/filename="([^"]*)"/i.exec(disposition)?.[1] ?? "");
}

/** Send a request whose body has a file of `size` bytes. `fetch` tells no browser how far it is, so they use the older way. */
export function sendFile(request: Outgoing, size: number, onProgress: Progress, fetcher: typeof fetch): Promise<Response> {
  return typeof XMLHttpRequest === "undefined" ? stream(request, size, onProgress, fetcher) : post(request, size, onProgress);
}

async function stream(request: Outgoing, size: number, onProgress: Progress, fetcher: typeof fetch): Promise<Response> {
  const whole = new Response(request.body ?? null);
  let sent = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, control) {
      sent += piece.byteLength;
      onProgress(Math.min(sent, size), size);
      control.enqueue(piece);
    },
  });
  const type = whole.headers.get("Content-Type");
  return fetcher(request.url, {
    method: request.method,
    headers: type ? { "Content-Type": type, ...request.headers } : request.headers,
    body: whole.body?.pipeThrough(counting) ?? null,
    signal: request.signal ?? null,
    duplex: "half",
    // else Node keeps a copy of everything that was sent, for a redirect that a stream cannot follow anyway
    redirect: "error",
    window: null,
  } as RequestInit);
}

function post(request: Outgoing, size: number, onProgress: Progress): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    sending.open(request.method, request.url);
    for (const [name, value] of Object.entries(request.headers)) {
      sending.setRequestHeader(name, value);
    }
    sending.upload.onprogress = ({ loaded, total }) => onProgress(Math.round((loaded / total) * size), size);
    sending.onload = () => resolve(responseOf(sending));
    sending.onerror = () => reject(new TypeError("The file could not be sent"));
    sending.onabort = () => reject(request.signal?.reason);
    request.signal?.addEventListener("abort", () => sending.abort(), { once: true });
    sending.send(request.body as XMLHttpRequestBodyInit);
  });
}

function responseOf(sent: XMLHttpRequest): Response {
  const lines = sent.getAllResponseHeaders().trim().split(/[\r\n]+/);
  const headers = lines.map((line): [string, string] => [line.split(":", 1)[0] ?? "", line.slice(line.indexOf(":") + 1).trim()]);
  return new Response(sent.responseText, { status: sent.status, statusText: sent.statusText, headers });
}
