package tern.rpc.serialization.json;

import java.time.Month;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.protobuf.ProtobufCodec;
import tools.jackson.core.Version;
import tools.jackson.databind.JacksonModule;
import tools.jackson.databind.module.SimpleSerializers;

/**
 * A Jackson module with Tern's additions to the application's mapper: protobuf messages, fast encoding of times, and
 * limits for types that malicious JSON could make expensive to decode.
 */
final class WireTypes extends JacksonModule {

    private final JsonLimits limits;
    private final @Nullable ProtobufCodec messages;

    WireTypes(JsonLimits limits, @Nullable ProtobufCodec messages) {
        this.limits = limits;
        this.messages = messages;
    }

    @Override
    public String getModuleName() {
        return "tern-rpc";
    }

    @Override
    public Version version() {
        return Version.unknownVersion();
    }

    @Override
    public void setupModule(SetupContext context) {
        if (messages != null) {
            context.addDeserializers(new MessageTypes.Reading(messages));
            context.addSerializers(new MessageTypes.Writing(messages));
        }
        SimpleSerializers months = new SimpleSerializers();
        months.addSerializer(Month.class, new MonthNames());
        context.addSerializers(months);
        context.addDeserializers(new OptionalNumbers());
        context.addDeserializerModifier(new CostlyScalars(limits));
        context.addDeserializerModifier(new HashedContainers(limits));
        context.addDeserializerModifier(new PlainTimesRead()); // Jackson calls the last added modifier first
        context.addSerializerModifier(new PlainTimesWritten());
    }
}
