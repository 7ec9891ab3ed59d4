package tern.rpc.serialization.hessian;

import java.util.List;
import tern.rpc.serialization.OutputBuffer;

/**
 * An encoded Hessian class definition. In a message, the definition precedes the first instance of the class.
 * Immutable.
 */
final class ClassDefinition {

    private final String name;
    private final List<String> fields;
    private final byte[] encoded;

    ClassDefinition(String name, List<String> fields) {
        this.name = name;
        this.fields = List.copyOf(fields);
        OutputBuffer bytes = new OutputBuffer();
        new ScalarOutput(bytes).writeDefinition(name, fields);
        this.encoded = bytes.toByteArray();
    }

    void writeTo(ScalarOutput out) {
        if (!out.append(encoded)) {
            out.writeDefinition(name, fields);
        }
    }
}
