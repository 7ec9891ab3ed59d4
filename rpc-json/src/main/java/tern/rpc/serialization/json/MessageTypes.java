package tern.rpc.serialization.json;

import com.fasterxml.jackson.annotation.JsonFormat;
import java.io.StringWriter;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.SerializationException;
import tern.rpc.serialization.protobuf.ProtobufCodec;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.SerializationConfig;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.deser.Deserializers;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.ser.Serializers;

/**
 * Encodes and decodes protobuf messages in their canonical JSON form, at any position in a value. A message's JSON text
 * is first read by Jackson's parser, so messages have the same limits as all JSON.
 */
final class MessageTypes {

    private MessageTypes() {}

    static final class Reading extends Deserializers.Base {
        private final ProtobufCodec messages;

        Reading(ProtobufCodec messages) {
            this.messages = messages;
        }

        @Override
        public @Nullable ValueDeserializer<?> findBeanDeserializer(
                JavaType type, DeserializationConfig config, BeanDescription.Supplier description) {
            return ProtobufCodec.isMessage(type.getRawClass()) ? new MessageReader(messages, type.getRawClass()) : null;
        }

        @Override
        public boolean hasDeserializerFor(DeserializationConfig config, Class<?> valueType) {
            return ProtobufCodec.isMessage(valueType);
        }
    }

    static final class Writing implements Serializers {
        private final ProtobufCodec messages;

        Writing(ProtobufCodec messages) {
            this.messages = messages;
        }

        @Override
        public @Nullable ValueSerializer<?> findSerializer(
                SerializationConfig config,
                JavaType type,
                BeanDescription.Supplier description,
                JsonFormat.@Nullable Value format) {
            return ProtobufCodec.isMessage(type.getRawClass()) ? new MessageWriter(messages) : null;
        }
    }

    private static final class MessageReader extends ValueDeserializer<Object> {

        /**
         * The maximum length of an all-digit string. protobuf-java-util accepts all-digit strings for number fields,
         * and parses them in quadratic time.
         */
        private static final int MAX_NUMERAL = 4096;

        private static final JsonFactory PLAIN_TEXT = new JsonFactory();

        private final ProtobufCodec messages;
        private final Class<?> type;

        MessageReader(ProtobufCodec messages, Class<?> type) {
            this.messages = messages;
            this.type = type;
        }

        @Override
        public void resolve(DeserializationContext context) {
            try {
                ProtobufCodec.checkJsonForm(type);
                messages.prepare(type);
            } catch (SerializationException | IllegalArgumentException e) {
                context.reportBadDefinition(context.constructType(type), e.getMessage());
            }
        }

        @Override
        public Object deserialize(JsonParser parser, DeserializationContext context) {
            try {
                return messages.fromJson(type, text(parser));
            } catch (SerializationException e) {
                throw MismatchedInputException.from(parser, type, e.getMessage());
            }
        }

        /**
         * Returns the message for JSON {@code null} if the message class is {@code google.protobuf.Value}, which can
         * represent null. Returns null for all other classes.
         */
        @Override
        public @Nullable Object getNullValue(DeserializationContext context) {
            return type.getName().equals("com.google.protobuf.Value") ? messages.fromJson(type, "null") : null;
        }

        @Override
        public Class<?> handledType() {
            return type;
        }

        private static String text(JsonParser parser) {
            StringWriter text = new StringWriter();
            try (JsonGenerator copy = PLAIN_TEXT.createGenerator(ObjectWriteContext.empty(), text)) {
                int depth = 0;
                JsonToken token = parser.currentToken();
                while (true) {
                    if (token == JsonToken.VALUE_STRING) {
                        checkNumeral(parser);
                    }
                    copy.copyCurrentEventExact(parser);
                    depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
                    if (depth == 0) {
                        break;
                    }
                    token = parser.nextToken();
                }
            }
            return text.toString();
        }

        private static void checkNumeral(JsonParser parser) {
            int length = parser.getStringLength();
            if (length <= MAX_NUMERAL) {
                return;
            }
            char[] chars = parser.getStringCharacters();
            int offset = parser.getStringOffset();
            for (int i = offset; i < offset + length; i++) {
                if ("0123456789+-.eE".indexOf(chars[i]) < 0) {
                    return;
                }
            }
            throw new StreamConstraintsException(
                    "a text of " + length + " digits; at most " + MAX_NUMERAL + " are allowed in a protobuf message");
        }
    }

    private static final class MessageWriter extends ValueSerializer<Object> {
        private final ProtobufCodec messages;

        MessageWriter(ProtobufCodec messages) {
            this.messages = messages;
        }

        @Override
        public void serialize(Object message, JsonGenerator generator, SerializationContext context) {
            generator.writeRawValue(messages.toJson(message));
        }
    }
}
