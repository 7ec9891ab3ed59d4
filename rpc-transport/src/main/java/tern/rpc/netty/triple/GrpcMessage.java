package tern.rpc.netty.triple;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Encodes and decodes the {@code grpc-message} header: UTF-8, percent-encoded (docs/wire-protocol.md 3.6). */
final class GrpcMessage {

    private static final int MAX_ENCODED = 1 << 10;
    private static final String HEX = "0123456789ABCDEF";

    private GrpcMessage() {}

    /** Encodes a message. Omits the end of the message if the encoded form would exceed 1 KiB. */
    static String encode(String text) {
        StringBuilder encoded = new StringBuilder(Math.min(MAX_ENCODED, text.length() + 16));
        int index = 0;
        while (index < text.length()) {
            int before = encoded.length();
            int character = text.codePointAt(index);
            if (isPlain(character)) {
                encoded.append((char) character);
            } else {
                escape(Character.toString(character), encoded);
            }
            if (encoded.length() > MAX_ENCODED) {
                encoded.setLength(before);
                break;
            }
            index += Character.charCount(character);
        }
        return encoded.toString();
    }

    /**
     * Returns whether the character needs no escape. The plus sign must be escaped, because Dubbo's consumers decode it
     * as a space.
     */
    private static boolean isPlain(int character) {
        return character >= 0x20 && character <= 0x7E && character != '%' && character != '+';
    }

    private static void escape(String character, StringBuilder encoded) {
        for (byte one : character.getBytes(StandardCharsets.UTF_8)) {
            encoded.append('%').append(HEX.charAt(one >> 4 & 0xF)).append(HEX.charAt(one & 0xF));
        }
    }

    /**
     * Decodes a message. Never throws an exception; an invalid escape is left unchanged.
     *
     * @param value the header value, with one character per byte
     */
    static String decode(CharSequence value) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(value.length());
        for (int i = 0; i < value.length(); i++) {
            char character = value.charAt(i);
            int escaped = character == '%' ? escaped(value, i + 1) : -1;
            if (escaped >= 0) {
                bytes.write(escaped);
                i += 2;
            } else {
                bytes.write(character);
            }
        }
        return text(bytes.toByteArray());
    }

    private static int escaped(CharSequence value, int index) {
        if (index + 2 > value.length()) {
            return -1;
        }
        int high = Character.digit(value.charAt(index), 16);
        int low = Character.digit(value.charAt(index + 1), 16);
        return high < 0 || low < 0 ? -1 : high << 4 | low;
    }

    /**
     * Decodes the bytes as UTF-8, or as Latin-1 if they are not valid UTF-8. Dubbo's providers sometimes write Latin-1.
     */
    private static String text(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException notUtf8) {
            return new String(bytes, StandardCharsets.ISO_8859_1);
        }
    }
}
