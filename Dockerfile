# The whole program is one static binary; its characters and the time zones are inside.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/familiar ./cmd/familiar
RUN mkdir -p /out/data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/familiar /familiar
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
ENV FAMILIAR_DATA=/data
VOLUME /data
ENTRYPOINT ["/familiar"]
CMD ["run"]
