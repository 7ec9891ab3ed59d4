package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;

/**
 * A base64 body whose frames were encoded separately. Decodes groups of four characters. Each group can end in padding.
 * Confined to the event loop.
 */
final class Base64Body implements BodyReader {

    private static final int GROUP = 4;
    private static final int GROUP_BYTES = 3;

    private final BodyReader decoded;
    private byte[] begun = {}; // the characters of an incomplete group
    private @Nullable RpcException wrong;

    Base64Body(BodyReader decoded) {
        this.decoded = decoded;
    }

    @Override
    public void add(ByteBuf bytes) {
        try {
            if (wrong == null) {
                decode(bytes);
            }
        } finally {
            bytes.release();
        }
    }

    private void decode(ByteBuf bytes) {
        byte[] characters = Arrays.copyOf(begun, begun.length + bytes.readableBytes());
        bytes.readBytes(characters, begun.length, characters.length - begun.length);
        int complete = characters.length - characters.length % GROUP;
        begun = Arrays.copyOfRange(characters, complete, characters.length);
        ByteBuf out = bytes.alloc().buffer(complete / GROUP * GROUP_BYTES);
        try {
            int start = 0;
            while (start < complete) {
                int end = pieceEnd(characters, start, complete);
                out.writeBytes(Base64.getDecoder().decode(ByteBuffer.wrap(characters, start, end - start)));
                start = end;
            }
        } catch (IllegalArgumentException e) {
            out.release();
            wrong = ConnectHeaders.invalid("the body is not in base64");
            return;
        }
        decoded.add(out);
    }

    /**
     * Returns the position after the next group with padding. If no group has padding, returns the position after the
     * last complete group.
     */
    private static int pieceEnd(byte[] characters, int start, int complete) {
        int end = start + GROUP;
        while (end < complete && characters[end - 1] != '=') {
            end += GROUP;
        }
        return end;
    }

    private void check() {
        RpcException current = wrong;
        if (current != null) {
            throw current;
        }
    }

    @Override
    public @Nullable Frame next(boolean ended) {
        check();
        return decoded.next(ended);
    }

    @Override
    public boolean isEmptyAtEnd() {
        check();
        if (begun.length > 0) {
            throw ConnectHeaders.invalid("the body ends within a group of " + GROUP + " characters of base64");
        }
        return decoded.isEmptyAtEnd();
    }

    @Override
    public int held() {
        return decoded.held();
    }

    @Override
    public void compact() {
        decoded.compact();
    }

    @Override
    public void close() {
        decoded.close();
    }
}
