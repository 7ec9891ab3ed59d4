package tern.rpc.netty.triple;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.ProtoReader;
import tern.rpc.serialization.ProtoWriter;
import tern.rpc.serialization.SerializationException;

/** Converts a JSON document to a {@code google.protobuf.Value}. Each instance converts one document. */
final class JsonToValue {

    /** The maximum number of decimal digits of a number that can be converted to a double and back without a change. */
    private static final int EXACT_DIGITS = 15;

    /**
     * The maximum length of a number that can become a double. A longer number is converted to a string without any
     * other checks, because no double has that many digits.
     */
    private static final int MAX_NUMBER = 800;

    private final byte[] json;
    private final int end;
    private final OutputBuffer out;
    private int at;

    JsonToValue(byte[] json, int length, OutputBuffer out) {
        this.json = json;
        this.end = length;
        this.out = out;
    }

    void document() {
        value(1);
        if (next() >= 0) {
            throw unexpected();
        }
    }

    private void value(int depth) {
        if (depth > ValueMessages.MAX_DEPTH) {
            throw new SerializationException("the answer nests values deeper than " + ValueMessages.MAX_DEPTH
                    + ", which is the limit of a google.protobuf.Value");
        }
        switch (next()) {
            case '{' -> struct(depth);
            case '[' -> list(depth);
            case '"' -> string(ValueMessages.STRING);
            case 't' -> literal("true", ValueMessages.BOOL, 1);
            case 'f' -> literal("false", ValueMessages.BOOL, 0);
            case 'n' -> literal("null", ValueMessages.NULL, 0);
            default -> number();
        }
    }

    private void literal(String text, int field, int value) {
        for (int i = 0; i < text.length(); i++) {
            if (at == end || json[at] != text.charAt(i)) {
                throw unexpected();
            }
            at++;
        }
        out.write(field << 3);
        out.write(value);
    }

    private void struct(int depth) {
        at++;
        int struct = ProtoWriter.begin(out, ValueMessages.STRUCT);
        if (next() != '}') {
            do {
                int entry = ProtoWriter.begin(out, ValueMessages.ELEMENT);
                expect('"');
                string(ValueMessages.KEY);
                expect(':');
                at++;
                int value = ProtoWriter.begin(out, ValueMessages.ENTRY_VALUE);
                value(depth + 1);
                ProtoWriter.end(out, value);
                ProtoWriter.end(out, entry);
            } while (another());
            expect('}');
        }
        at++;
        ProtoWriter.end(out, struct);
    }

    private void list(int depth) {
        at++;
        int list = ProtoWriter.begin(out, ValueMessages.LIST);
        if (next() != ']') {
            do {
                int element = ProtoWriter.begin(out, ValueMessages.ELEMENT);
                value(depth + 1);
                ProtoWriter.end(out, element);
            } while (another());
            expect(']');
        }
        at++;
        ProtoWriter.end(out, list);
    }

    private boolean another() {
        if (next() != ',') {
            return false;
        }
        at++;
        return true;
    }

    // ---- number parsing

    private void number() {
        int start = at;
        while (at < end && isOfNumber(json[at])) {
            at++;
        }
        if (at == start) {
            throw unexpected();
        }
        String text = new String(json, start, at - start, StandardCharsets.US_ASCII);
        if (text.length() <= MAX_NUMBER) {
            double number = parsed(text);
            if (isExact(number, text)) {
                out.write(ValueMessages.NUMBER << 3 | ProtoReader.FIXED64);
                long bits = Double.doubleToLongBits(number);
                for (int i = 0; i < 8; i++) {
                    out.write((int) (bits >>> (8 * i)));
                }
                return;
            }
        }
        ProtoWriter.text(out, ValueMessages.STRING, text);
    }

    private static boolean isOfNumber(byte character) {
        return (character >= '0' && character <= '9')
                || character == '-'
                || character == '+'
                || character == '.'
                || character == 'e'
                || character == 'E';
    }

    private double parsed(String text) {
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException e) {
            throw unexpected();
        }
    }

    /**
     * Returns whether the double equals the number in the text, after the double has been rounded to the same number of
     * digits.
     */
    private static boolean isExact(double number, String text) {
        if (Double.isInfinite(number)) {
            return false;
        }
        if (text.length() <= EXACT_DIGITS && text.indexOf('e') < 0 && text.indexOf('E') < 0) {
            return true;
        }
        BigDecimal exact;
        try {
            exact = new BigDecimal(text);
        } catch (NumberFormatException e) {
            return false; // the exponent is out of range, so the number is not exact
        }
        MathContext digits = new MathContext(exact.precision(), RoundingMode.HALF_EVEN);
        return new BigDecimal(number).round(digits).compareTo(exact) == 0;
    }

    // ---- string parsing

    private void string(int field) {
        at++;
        int content = ProtoWriter.begin(out, field);
        int plain = at;
        while (at < end && json[at] != '"') {
            if (json[at] == '\\') {
                out.write(json, plain, at - plain);
                escape();
                plain = at;
            } else {
                at++;
            }
        }
        if (at == end) {
            throw unexpected();
        }
        out.write(json, plain, at - plain);
        at++;
        ProtoWriter.end(out, content);
    }

    private void escape() {
        if (at + 1 >= end) {
            throw unexpected();
        }
        at += 2;
        switch (json[at - 1]) {
            case 'b' -> out.write('\b');
            case 'f' -> out.write('\f');
            case 'n' -> out.write('\n');
            case 'r' -> out.write('\r');
            case 't' -> out.write('\t');
            case '"', '\\', '/' -> out.write(json[at - 1]);
            case 'u' -> unicode();
            default -> throw unexpected();
        }
    }

    private void unicode() {
        char first = fourDigits();
        char[] text = {first};
        if (Character.isHighSurrogate(first) && at + 1 < end && json[at] == '\\' && json[at + 1] == 'u') {
            at += 2;
            text = new char[] {first, fourDigits()};
        }
        byte[] encoded = new String(text).getBytes(StandardCharsets.UTF_8);
        out.write(encoded, 0, encoded.length);
    }

    private char fourDigits() {
        int value = 0;
        for (int i = 0; i < 4; i++) {
            int digit = at < end ? Character.digit(json[at], 16) : -1;
            if (digit < 0) {
                throw unexpected();
            }
            value = value << 4 | digit;
            at++;
        }
        return (char) value;
    }

    // ---- text position

    /** Returns the next character that is not whitespace; -1 at the end. */
    private int next() {
        while (at < end && (json[at] == ' ' || json[at] == '\n' || json[at] == '\r' || json[at] == '\t')) {
            at++;
        }
        return at < end ? json[at] & 0xff : -1;
    }

    private void expect(char character) {
        if (next() != character) {
            throw unexpected();
        }
    }

    private SerializationException unexpected() {
        return new SerializationException("the answer is not JSON at byte " + at + " of " + end);
    }
}
