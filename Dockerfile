# The whole program is one static binary; its characters and the time zones are inside.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION= COMMIT= DATE=
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w -funcalign=16 -X main.release=$VERSION -X main.commit=$COMMIT -X main.built=$DATE" -o /out/familiar ./cmd/familiar
RUN mkdir -p /out/data

# Certificates, time zones and the user nonroot, and nothing that could be run but the program.
FROM gcr.io/distroless/static-debian12:nonroot
ARG VERSION= COMMIT= DATE=
LABEL org.opencontainers.image.title="familiar" \
      org.opencontainers.image.description="A Discord companion that can look things up and show its work" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version=$VERSION \
      org.opencontainers.image.revision=$COMMIT \
      org.opencontainers.image.created=$DATE
COPY --from=build /out/familiar /familiar
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
# /data is all that is written to: the root may be read-only.
WORKDIR /data
ENV FAMILIAR_DATA=/data
VOLUME /data
# Inside the container, at the address of the console or of FAMILIAR_METRICS.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 CMD ["/familiar", "health"]
ENTRYPOINT ["/familiar"]
CMD ["run"]
