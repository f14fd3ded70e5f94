// Reads requests of OpenTelemetry spans with OpenTelemetry's own library, one on each line of standard input, and prints how
// many spans they have. A request is wrong if it is not the same after the library has read it, written it as protobuf and read that:
// then it has a member that the library does not know, or a value of another type.
//
//     node read_otlp.js FOLDER-OF-NODE_MODULES <REQUESTS
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");

const library = `${process.argv[2]}/node_modules/@opentelemetry/otlp-transformer/build/src`;
const { opentelemetry } = require(`${library}/generated/root.js`);
const Request = opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;

// Bytes are hexadecimal in OTLP/JSON, of a known length; in the library's objects they are base64.
function bytes(hex, size) {
    assert.match(hex, new RegExp(`^[0-9a-f]{${2 * size}}$`));
    assert.notStrictEqual(BigInt(`0x${hex}`), 0n);
    return Buffer.from(hex, "hex").toString("base64");
}

// Protobuf leaves out what is 0 or empty.
function read(key, value) {
    if (key === "traceId") return bytes(value, 16);
    if (key === "spanId" || key === "parentSpanId") return bytes(value, 8);
    if (key === "code" && value === 0) return undefined;
    if (/UnixNano$/.test(key) || key === "intValue") assert.strictEqual(typeof value, "string");
    return Array.isArray(value) && value.length === 0 ? undefined : value;
}

let spans = 0;
for (const line of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
    assert.match(line, /^{.*}$/);
    const request = JSON.parse(line, read);
    const message = Request.fromObject(request);
    assert.strictEqual(Request.verify(message), null);
    const again = Request.toObject(Request.decode(Request.encode(message).finish()),
        { longs: String, enums: Number, bytes: String });
    assert.deepStrictEqual(again, request);
    for (const resource of request.resourceSpans)
        for (const scope of resource.scopeSpans) spans += scope.spans.length;
}
console.log(spans);
