package tern.rpc.serialization.json;

import java.time.Month;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ser.std.StdScalarSerializer;

/**
 * Writes a month as the name of the constant, like every other enum. Jackson itself writes a number, whose meaning
 * depends on an application setting. Stateless.
 */
final class MonthNames extends StdScalarSerializer<Month> {

    MonthNames() {
        super(Month.class);
    }

    @Override
    public void serialize(Month month, JsonGenerator generator, SerializationContext context) {
        generator.writeString(month.name());
    }
}
