# Urchin with Chromium, run by an unprivileged user.
FROM python:3.13-slim-bookworm
RUN apt-get update \
 && apt-get install --yes --no-install-recommends chromium fonts-noto-core tini \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 10001 urchin \
 && install -d -o urchin -g urchin /data /app
WORKDIR /app
COPY pyproject.toml README.md LICENSE ./
COPY agent agent
COPY browser browser
COPY urchin_research urchin_research
COPY plugins plugins
RUN pip install --no-cache-dir ".[serve,jobs,mcp,postgres,office,docx,anthropic]" "./plugins[whatsapp]"
COPY fixtures fixtures
USER urchin
ENV RESEARCH_DATA_DIR=/data PYTHONUNBUFFERED=1
VOLUME /data
EXPOSE 8321
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen(urllib.request.Request('http://127.0.0.1:8321/healthz', headers={'Host': '127.0.0.1:8321'}), timeout=4)"]
STOPSIGNAL SIGTERM
# tini reaps the orphaned processes of browsers.
ENTRYPOINT ["tini", "--"]
CMD ["research", "serve", "--host", "0.0.0.0"]
