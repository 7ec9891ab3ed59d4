package tern.rpc.netty.dubbo;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.transport.ServiceLookup;

/**
 * Finds the method of a request without decoding it. The second string of the body is the name of the interface, and
 * the fourth string is the name of the method (docs/wire-protocol.md 1.4). Supports only ASCII strings of up to 1,023
 * characters. Only one thread uses an instance.
 */
final class RequestNames {

    // the first bytes of values in hessian2: strings of up to 31 characters, strings of up to 1,023 characters, and
    // null
    private static final int MAX_SHORT = 0x1f;
    private static final int MEDIUM = 0x30;
    private static final int MAX_MEDIUM = 0x33;
    private static final int NULL = 'N';

    private final ByteBuf body;
    private int at;

    private RequestNames(ByteBuf body) {
        this.body = body;
        this.at = body.readerIndex();
    }

    /**
     * Returns the first overload of the called method. Returns null if the interface name or the method name cannot be
     * read, or if the method is unknown.
     */
    static @Nullable MethodDescriptor method(ByteBuf body, ServiceLookup services) {
        RequestNames names = new RequestNames(body);
        if (!names.skip()) {
            return null;
        }
        String interfaceName = names.next();
        if (interfaceName == null || !names.skip()) {
            return null;
        }
        String method = names.next();
        return method == null ? null : services.method(interfaceName, method);
    }

    private boolean skip() {
        int length = length();
        at += Math.max(0, length);
        return length >= 0 && at <= body.writerIndex();
    }

    private @Nullable String next() {
        int length = length();
        if (length < 0 || at + length > body.writerIndex()) {
            return null;
        }
        String text = body.toString(at, length, StandardCharsets.ISO_8859_1);
        at += length;
        return text;
    }

    /** Reads the length of a string. Returns -1 if the value is not a supported string. */
    private int length() {
        if (at >= body.writerIndex()) {
            return -1;
        }
        int code = body.getUnsignedByte(at++);
        if (code <= MAX_SHORT) {
            return code;
        }
        if (code >= MEDIUM && code <= MAX_MEDIUM && at < body.writerIndex()) {
            return ((code - MEDIUM) << 8) + body.getUnsignedByte(at++);
        }
        return code == NULL ? 0 : -1;
    }
}
