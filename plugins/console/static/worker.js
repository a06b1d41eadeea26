// Shows a page of its own where the service is out of reach. It keeps nothing: neither pages nor answers of the API.

const OFFLINE = `<!doctype html>
<html lang="zh"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Tradewind</title>
<style>body { margin: 20vh auto; max-width: 24em; padding: 0 16px; font: 16px/1.6 system-ui, sans-serif; text-align: center; color-scheme: light dark } a { display: inline-block; padding: 8px 24px; color: #fff; background: #0b5cad; border-radius: 6px; text-decoration: none }</style>
<h1>无法连接服务</h1><p>请检查网络；网络恢复后可以继续使用。</p><p lang="en">The service cannot be reached. Check the network, and go on when it is back.</p><p><a href="">重试 <span lang="en">Try again</span></a></p>`;
const HEADERS = { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'" };

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("fetch", (event) => {
  if (event.request.mode !== "navigate") return;
  event.respondWith(fetch(event.request).catch(() => new Response(OFFLINE, { status: 503, headers: HEADERS })));
});
