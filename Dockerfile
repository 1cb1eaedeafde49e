# One image for every role: docker run towhook receiver | worker | console | simulator | all
# Node 24 to 26 may misread keys of JSON: https://github.com/nodejs/node/issues/63785
FROM node:22.23.2-bookworm-slim AS base
WORKDIR /app
COPY package.json package-lock.json ./

FROM base AS build
RUN npm ci
COPY tsconfig.json ./
COPY src ./src
COPY jobs ./jobs
RUN npm run build

# The server that `towhook restore --verify` and `towhook demo` start: that of docker-compose.yml, because an older one
# cannot read its snapshots. Laid out as src/embedded-redis/private-copy.ts does it, with all libraries but those of glibc.
FROM redis:8.2.3-bookworm AS redis
RUN mkdir -p /copy/bin /copy/lib && cp "$(command -v redis-server)" /copy/bin/redis-server \
  && ldd /copy/bin/redis-server | grep -o '/[^ ]*' | grep -vE '/(ld-linux[^/]*|lib(c|m|dl|rt|pthread))\.so' \
  | xargs cp --dereference --target-directory /copy/lib

FROM base AS run
# Without optional peers, of which one is TypeScript, and without what only editors and debuggers read.
RUN npm ci --omit=dev --legacy-peer-deps && npm cache clean --force \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.[cm]ts' \) -delete
COPY --from=build /app/dist ./dist
COPY --from=redis /copy .cache/redis/server
RUN LD_LIBRARY_PATH=.cache/redis/server/lib .cache/redis/server/bin/redis-server --version
COPY openapi.json ./
# The command line, with its demo: docker compose exec console towhook doctor
RUN ln -s /app/dist/src/main/towhook.cjs /usr/local/bin/towhook && towhook --version
# Images of violations and the archive; backups. The program writes to no other place.
RUN mkdir /data /backups && chown node:node /data /backups
VOLUME ["/data"]
ENV NODE_ENV=production \
    DATA_DIR=/data \
    HOST=0.0.0.0 \
    RECEIVER_PORT=3000 \
    CONSOLE_PORT=3001 \
    SIMULATOR_PORT=3002 \
    OPS_PORT=9090
EXPOSE 3000 3001 3002 9090
USER node
# A role opens some of the four ports. Healthy: at least one answers, and none that takes connections fails to.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD ["node", "-e", "\
  const { OPS_PORT, RECEIVER_PORT, CONSOLE_PORT, SIMULATOR_PORT } = process.env;\
  const ask = (port) => fetch('http://127.0.0.1:' + port + '/healthz', { signal: AbortSignal.timeout(3000) }).then(\
    (answer) => (answer.ok ? 'alive' : 'ill'),\
    (error) => (error.cause?.code === 'ECONNREFUSED' ? 'closed' : 'ill'));\
  Promise.all([OPS_PORT, RECEIVER_PORT, CONSOLE_PORT, SIMULATOR_PORT].map(ask)).then((states) =>\
    process.exit(states.includes('alive') && !states.includes('ill') ? 0 : 1));"]
ENTRYPOINT ["node", "dist/src/main/index.js"]
CMD ["all"]
