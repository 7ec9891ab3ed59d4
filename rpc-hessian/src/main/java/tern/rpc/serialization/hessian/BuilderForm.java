package tern.rpc.serialization.hessian;

import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Writes a {@link StringBuilder} or {@link StringBuffer} with the fields that both classes have had since JDK 9. The
 * fields are the characters as Latin-1 or little-endian UTF-16 bytes, a code for the encoding, and the character count.
 * hessian-lite also writes the unused end of the array. This class omits the unused end, because readers use only as
 * many characters as the count says. Thread-safe.
 */
final class BuilderForm implements WireForm {

    private static final String VALUE = "value";
    private static final String CODER = "coder";
    private static final String COUNT = "count";
    // JDK 21 added the field maybeLatin1. The field is only an optimization hint for the JDK, so false is always
    // correct.
    private static final String MAYBE_LATIN1 = "maybeLatin1";
    private static final Set<String> KNOWN = Set.of(VALUE, CODER, COUNT, MAYBE_LATIN1);
    private static final char LAST_LATIN1 = 0xFF;

    private final ClassDefinition definition;
    private final List<String> fields;

    private BuilderForm(ClassDefinition definition, List<String> fields) {
        this.definition = definition;
        this.fields = fields;
    }

    /**
     * Returns the {@link WireForm} for {@code StringBuilder} or {@code StringBuffer}, or null for another class. Also
     * returns null if the class does not have the expected fields in the running JDK.
     */
    static @Nullable WireForm of(Class<?> type) {
        if (type != StringBuilder.class && type != StringBuffer.class) {
            return null;
        }
        List<String> fields = BeanShape.serializedFields(type, Object.class).stream()
                .map(Field::getName)
                .toList();
        return KNOWN.containsAll(fields) ? new BuilderForm(new ClassDefinition(type.getName(), fields), fields) : null;
    }

    @Override
    public void write(Object value, HessianOutput out) {
        if (out.addRef(value)) {
            return;
        }
        out.begin(definition);
        String text = value.toString();
        boolean wide = text.chars().anyMatch(unit -> unit > LAST_LATIN1);
        for (String field : fields) {
            switch (field) {
                case VALUE -> out.writeBytes(bytes(text, wide));
                case CODER -> out.writeInt(wide ? 1 : 0);
                case COUNT -> out.writeInt(text.length());
                default -> out.writeBoolean(false);
            }
        }
    }

    private static byte[] bytes(String text, boolean wide) {
        if (!wide) {
            return text.getBytes(StandardCharsets.ISO_8859_1);
        }
        byte[] bytes = new byte[2 * text.length()];
        // a Charset would replace unpaired surrogates, so the characters are copied one by one
        for (int i = 0; i < text.length(); i++) {
            bytes[2 * i] = (byte) text.charAt(i);
            bytes[2 * i + 1] = (byte) (text.charAt(i) >> 8);
        }
        return bytes;
    }
}
