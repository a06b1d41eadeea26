/** Sends requests, and sends again what is safe to send again. */

/** How a request is tried again after a fault of the network, 429, 502, 503 or 504. */
export interface Retries {
  /** How often, after the first try. */
  times: number;
  /** Seconds before the first repetition; each further one waits twice as long. */
  first: number;
  /** The longest wait in seconds. A service that asks for more is not asked again. */
  longest: number;
}

export const RETRIES: Retries = { times: 3, first: 0.3, longest: 10 };
const TRANSIENT = new Set([429, 502, 503, 504]);

/** One request that can be sent several times. */
export interface Outgoing {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: BodyInit | undefined;
  signal?: AbortSignal | undefined;
  /** Whether sending it twice is the same as sending it once. */
  repeatable: boolean;
}

/** Sends a request once. */
export type Send = (request: Outgoing) => Promise<Response>;

/** Send a request until it has an answer that stands. */
export async function sendSafely(send: Send, request: Outgoing, retries: Retries): Promise<Response> {
  for (let left = request.repeatable ? retries.times : 0, wait = retries.first; ; left -= 1, wait *= 2) {
    const answer = await send(request).catch((error: unknown) => {
      if (left === 0 || request.signal?.aborted) {
        throw error;
      }
      return null;
    });
    const asked = Number.parseInt(answer?.headers.get("Retry-After") ?? "0", 10) || 0;
    if (answer && (left === 0 || !TRANSIENT.has(answer.status) || asked > retries.longest)) {
      return answer;
    }
    await pause(Math.min(Math.max(asked, wait * (0.5 + Math.random())), retries.longest), request.signal);
  }
}

/** Wait for some seconds, or until the signal ends it. */
export function pause(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    if (signal?.aborted) {
      stop();
    } else {
      signal?.addEventListener("abort", stop, { once: true });
    }
  });
}

/** A new idempotency key. `crypto.randomUUID` is missing where a page came over plain HTTP. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
