package tern.rpc.netty.triple;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import tern.rpc.Invocation;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceKey;

/**
 * The request line and headers of a method's JSON requests over HTTP/1.1. The lines that all requests of the method
 * share are encoded once. Immutable.
 */
final class JsonRequestHead {

    private static final long MAX_MILLIS = 9_999_999_999L;

    private final byte[] fixed;

    /** @param host the value of the host header */
    JsonRequestHead(ServiceKey service, MethodDescriptor method, String application, String host) {
        StringBuilder head = new StringBuilder(256);
        head.append("POST ").append(RequestHead.asciiPath("/" + path(service, method)));
        head.append(" HTTP/1.1\r\n");
        append(head, "host", host);
        append(head, "content-type", "application/json");
        append(head, "accept", "application/json");
        append(head, "accept-encoding", Gzip.NAME);
        append(head, "user-agent", RequestHead.OURS);
        if (!service.version().isEmpty()) {
            append(head, GrpcHeaders.VERSION, RequestHead.ascii("the version of " + service, service.version()));
        }
        if (!service.group().isEmpty()) {
            append(head, GrpcHeaders.GROUP, RequestHead.ascii("the group of " + service, service.group()));
        }
        if (RequestHead.isAscii(application) && !application.isEmpty()) {
            append(head, RequestHead.APPLICATION, application);
        }
        this.fixed = head.toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String path(ServiceKey service, MethodDescriptor method) {
        long sameName = method.service().methods().stream()
                .filter(other -> other.name().equals(method.name()))
                .count();
        String path = service.interfaceName() + '/' + method.name();
        return sameName == 1 ? path : path + '~' + JsonOverloads.letters(method);
    }

    private static void append(StringBuilder head, CharSequence name, CharSequence value) {
        head.append(name).append(": ").append(value).append("\r\n");
    }

    /**
     * Encodes the request line and headers of one request, including the empty line at the end.
     *
     * @param oneWay whether the caller does not wait for the answer
     * @param room the number of bytes to reserve after the headers
     * @throws tern.rpc.RpcException if the metadata cannot be sent
     */
    byte[] bytes(Invocation call, boolean oneWay, int bodyBytes, long now, int room) {
        StringBuilder head = new StringBuilder(96);
        if (call.deadline().isLimited()) {
            long millis = TimeUnit.NANOSECONDS.toMillis(call.deadline().remainingNanos(now) + 999_999);
            append(head, ConnectHeaders.TRIPLE_TIMEOUT, Long.toString(Math.max(1, Math.min(MAX_MILLIS, millis))));
        }
        if (oneWay) {
            append(head, GrpcHeaders.ONE_WAY, GrpcHeaders.YES);
        }
        if (call.isCompressed()) {
            append(head, ConnectHeaders.CONTENT_ENCODING, ConnectHeaders.GZIP);
        }
        TripleMetadata.write(call.metadata(), (name, value) -> append(head, name, value));
        append(head, JsonForm.CONTENT_LENGTH, Integer.toString(bodyBytes));
        head.append("\r\n");
        byte[] all = Arrays.copyOf(fixed, fixed.length + head.length() + room);
        for (int i = 0; i < head.length(); i++) {
            all[fixed.length + i] = (byte) head.charAt(i);
        }
        return all;
    }
}
