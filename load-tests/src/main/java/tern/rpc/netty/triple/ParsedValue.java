package tern.rpc.netty.triple;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.ProtoReader;
import tern.rpc.serialization.ProtoWriter;
import tern.rpc.serialization.SerializationException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;

/** Converts JSON to a {@code google.protobuf.Value} with Jackson's streaming parser. */
final class ParsedValue {

    private static final int EXACT_DIGITS = 15;
    private static final int LONGEST_NUMBER = 800;

    private static final JsonFactory FACTORY = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNumberLength(Integer.MAX_VALUE)
                    .maxStringLength(Integer.MAX_VALUE)
                    .maxNameLength(Integer.MAX_VALUE)
                    .build())
            .build();

    private final JsonParser parser;
    private final OutputBuffer out;

    private ParsedValue(JsonParser parser, OutputBuffer out) {
        this.parser = parser;
        this.out = out;
    }

    static void write(byte[] json, int length, OutputBuffer out) {
        try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), json, 0, length)) {
            parser.nextToken();
            new ParsedValue(parser, out).value(1);
            if (parser.nextToken() != null) {
                throw new SerializationException("the answer has more than one value");
            }
        }
    }

    private void value(int depth) {
        if (depth > ValueMessages.MAX_DEPTH) {
            throw new SerializationException("the answer nests values deeper than " + ValueMessages.MAX_DEPTH);
        }
        JsonToken token = parser.currentToken();
        if (token == null) {
            throw new SerializationException("the answer is no JSON");
        }
        switch (token) {
            case START_OBJECT -> struct(depth);
            case START_ARRAY -> list(depth);
            case VALUE_STRING -> text(ValueMessages.STRING, parser.getString());
            case VALUE_TRUE -> literal(ValueMessages.BOOL, 1);
            case VALUE_FALSE -> literal(ValueMessages.BOOL, 0);
            case VALUE_NULL -> literal(ValueMessages.NULL, 0);
            default -> number(parser.getString());
        }
    }

    private void literal(int field, int value) {
        out.write(field << 3);
        out.write(value);
    }

    private void text(int field, String text) {
        ProtoWriter.bytes(out, field, text.getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }

    private void struct(int depth) {
        int struct = ProtoWriter.begin(out, ValueMessages.STRUCT);
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            int entry = ProtoWriter.begin(out, ValueMessages.ELEMENT);
            text(ValueMessages.KEY, parser.currentName());
            parser.nextToken();
            int value = ProtoWriter.begin(out, ValueMessages.ENTRY_VALUE);
            value(depth + 1);
            ProtoWriter.end(out, value);
            ProtoWriter.end(out, entry);
        }
        ProtoWriter.end(out, struct);
    }

    private void list(int depth) {
        int list = ProtoWriter.begin(out, ValueMessages.LIST);
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            int element = ProtoWriter.begin(out, ValueMessages.ELEMENT);
            value(depth + 1);
            ProtoWriter.end(out, element);
        }
        ProtoWriter.end(out, list);
    }

    private void number(String text) {
        if (text.length() <= LONGEST_NUMBER) {
            double number = Double.parseDouble(text);
            if (isExact(number, text)) {
                out.write(ValueMessages.NUMBER << 3 | ProtoReader.FIXED64);
                long bits = Double.doubleToLongBits(number);
                for (int i = 0; i < 8; i++) {
                    out.write((int) (bits >>> (8 * i)));
                }
                return;
            }
        }
        text(ValueMessages.STRING, text);
    }

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
            return false; // The exponent is out of range, so the double is not exact.
        }
        MathContext digits = new MathContext(exact.precision(), RoundingMode.HALF_EVEN);
        return new BigDecimal(number).round(digits).compareTo(exact) == 0;
    }
}
