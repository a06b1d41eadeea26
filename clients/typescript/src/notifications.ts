/** The WebSocket of notifications: opened again whenever it closes, so that no message is missed and none comes twice. */

import type { components } from "./schema.js";
import type { Session } from "./session.js";
import { pause, type Retries } from "./transport.js";

type Schemas = components["schemas"];

/** What the service sends; `type` tells the kinds apart. */
export type Message =
  | Schemas["NotificationSocketReady"]
  | Schemas["NotificationSocketNotification"]
  | Schemas["NotificationSocketUnread"]
  | Schemas["NotificationSocketProgress"];

export interface ListenOptions {
  /** The id of the last notification that the application has. Without it, only new ones come. */
  lastId?: string;
  /** Hears whether the connection is there, when that changes. */
  onStatus?: (connected: boolean) => void;
  /** Ends it. */
  signal?: AbortSignal;
}

const [LOST, SESSION_OVER, REPLACED] = [1006, 1008, 1012];
const LONGEST_SECONDS = 30;

/**
 * Hear messages until the signal or the end of the session. `check` makes a request, which renews expired tokens and ends a
 * session that the service has ended: a browser does not tell why a WebSocket was refused.
 */
export async function listen(
  url: string,
  session: Session,
  socket: typeof WebSocket,
  hear: (message: Message) => void,
  check: () => Promise<unknown>,
  retries: Retries,
  options: ListenOptions,
): Promise<void> {
  let lastId = options.lastId;
  let wait = retries.first;
  while (!options.signal?.aborted) {
    const tokens = await session.fresh().catch(() => session.tokens); // away: the socket will fail, and wait
    if (!tokens || options.signal?.aborted) {
      return;
    }
    const opened = new socket(lastId ? `${url}?last_id=${lastId}` : url, [`bearer.${tokens.accessToken}`]);
    const code = await closed(opened, options, (message) => {
      wait = retries.first;
      lastId = message.type === "ready" ? (lastId ?? message.last_id) : message.type === "notification" ? message.data.id : lastId;
      hear(message);
    });
    if (code !== REPLACED && !options.signal?.aborted) {
      await pause(code === SESSION_OVER ? 0 : wait * (0.5 + Math.random()), options.signal).catch(() => undefined);
      wait = Math.min(wait * 2, LONGEST_SECONDS);
      await check().catch(() => undefined);
    }
  }
}

/** Pass on what a socket receives until it closes, and return the code of that. */
function closed(socket: WebSocket, { onStatus, signal }: ListenOptions, receive: (message: Message) => void): Promise<number> {
  const close = () => socket.close();
  let connected = false;
  signal?.addEventListener("abort", close);
  globalThis.addEventListener?.("online", close); // the network was away, and a dead connection may not show it
  return new Promise<number>((resolve) => {
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(String(data)) as Message;
      if (message.type === "ready") {
        connected = true;
        onStatus?.(true);
      }
      receive(message);
    };
    socket.onclose = ({ code }) => resolve(code);
    socket.onerror = () => resolve(LOST); // Node 20 says no more than this where nothing listens
  }).finally(() => {
    signal?.removeEventListener("abort", close);
    globalThis.removeEventListener?.("online", close);
    if (connected) {
      onStatus?.(false);
    }
  });
}
