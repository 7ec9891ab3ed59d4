package tern.rpc.netty.triple;

import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceKey;

/**
 * The headers of a method's requests. The headers that all requests of the method share are encoded once
 * (docs/wire-protocol.md 3.2). Thread-safe.
 */
final class RequestHead {

    private static final AsciiString TE = AsciiString.cached("te");
    private static final AsciiString TRAILERS = AsciiString.cached("trailers");
    private static final AsciiString USER_AGENT = AsciiString.cached("user-agent");
    static final AsciiString OURS = AsciiString.cached(userAgent());
    static final AsciiString APPLICATION = AsciiString.cached("tri-consumer-appname");

    private final AsciiString path;
    private final AsciiString[] fixed;

    /** The header fields of the most recent request, which any thread may have sent. */
    private volatile @Nullable Timed lastTimed;

    /**
     * The header fields of a request, without the fields for call-specific metadata, and the timeout for which these
     * fields are valid.
     */
    private static final class Timed {

        private final long nanos;
        private final AsciiString[] fields;

        Timed(long nanos, AsciiString[] fields) {
            this.nanos = nanos;
            this.fields = fields;
        }
    }

    RequestHead(ServiceKey service, MethodDescriptor method, String application) {
        this.path = asciiPath("/" + service.interfaceName() + "/" + method.name());
        List<AsciiString> pairs = new ArrayList<>();
        add(pairs, GrpcHeaders.CONTENT_TYPE, GrpcHeaders.GRPC_PROTO);
        add(pairs, TE, TRAILERS);
        add(pairs, USER_AGENT, OURS);
        add(pairs, GrpcHeaders.ACCEPT_ENCODING, GrpcHeaders.GZIP);
        if (!service.version().isEmpty()) {
            add(pairs, GrpcHeaders.VERSION, ascii("the version of " + service, service.version()));
        }
        if (!service.group().isEmpty()) {
            add(pairs, GrpcHeaders.GROUP, ascii("the group of " + service, service.group()));
        }
        if (isAscii(application) && !application.isEmpty()) {
            add(pairs, APPLICATION, new AsciiString(application));
        }
        this.fixed = pairs.toArray(AsciiString[]::new);
    }

    private static String userAgent() {
        String version = RequestHead.class.getPackage().getImplementationVersion();
        return version == null ? "tern-rpc" : "tern-rpc/" + version;
    }

    private static void add(List<AsciiString> pairs, AsciiString name, AsciiString value) {
        pairs.add(name);
        pairs.add(value);
    }

    /** Returns the path of a request. The names of interfaces and methods can be set with {@code @WireName}. */
    static AsciiString asciiPath(String path) {
        if (!isAscii(path)) {
            throw new IllegalArgumentException("the path '" + path + "' contains characters other than ASCII, which"
                    + " HTTP does not allow; set the name of the method with @WireName, or use the protocol dubbo");
        }
        return new AsciiString(path);
    }

    static AsciiString ascii(String what, String text) {
        if (!isAscii(text)) {
            throw new IllegalArgumentException(what + " is '" + text + "'; HTTP headers can contain only ASCII");
        }
        return new AsciiString(text);
    }

    static boolean isAscii(String text) {
        return text.chars().allMatch(character -> character >= 0x20 && character <= 0x7E);
    }

    AsciiString path() {
        return path;
    }

    /**
     * Returns the header names and values of one request, alternating and without pseudo-headers. The array must not be
     * changed.
     *
     * @param oneWay whether the caller does not wait for the answer
     * @throws tern.rpc.RpcException if the metadata cannot be sent
     */
    AsciiString[] fields(Invocation call, boolean oneWay, long now) {
        if (call.metadata().isEmpty() && !call.isCompressed() && !oneWay) {
            return fixedAnd(call.deadline(), now);
        }
        List<AsciiString> own = new ArrayList<>();
        if (oneWay) {
            add(own, GrpcHeaders.ONE_WAY, GrpcHeaders.YES);
        }
        if (call.deadline().isLimited()) {
            add(own, GrpcHeaders.TIMEOUT, GrpcTimeout.format(timeoutNanos(call.deadline(), now)));
        }
        if (call.isCompressed()) {
            add(own, GrpcHeaders.ENCODING, GrpcHeaders.GZIP);
        }
        TripleMetadata.write(call.metadata(), (name, value) -> add(own, AsciiString.of(name), AsciiString.of(value)));
        if (own.isEmpty()) {
            return fixed;
        }
        AsciiString[] all = Arrays.copyOf(fixed, fixed.length + own.size());
        for (int i = 0; i < own.size(); i++) {
            all[fixed.length + i] = own.get(i);
        }
        return all;
    }

    private AsciiString[] fixedAnd(Deadline deadline, long now) {
        if (!deadline.isLimited()) {
            return fixed;
        }
        long nanos = timeoutNanos(deadline, now);
        Timed last = lastTimed;
        if (last != null && last.nanos == nanos) {
            return last.fields;
        }
        AsciiString[] all = Arrays.copyOf(fixed, fixed.length + 2);
        all[fixed.length] = GrpcHeaders.TIMEOUT;
        all[fixed.length + 1] = GrpcTimeout.format(nanos);
        lastTimed = new Timed(nanos, all);
        return all;
    }

    private static long timeoutNanos(Deadline deadline, long now) {
        return GrpcTimeout.rounded(deadline.remainingNanos(now));
    }
}
