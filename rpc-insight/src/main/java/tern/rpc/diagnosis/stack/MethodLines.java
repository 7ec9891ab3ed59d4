package tern.rpc.diagnosis.stack;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import tern.rpc.pool.ApplicationCode;

/**
 * Reads the source lines of a method from the class file. A method that has already returned appears in no stack, so
 * its lines are known only from there.
 */
public final class MethodLines {

    private static final int MAGIC = 0xCAFEBABE;
    private static final int UTF8 = 1;
    private static final String LAMBDA = "lambda$";

    private final String method;
    private final Map<Integer, String> texts = new HashMap<>(); // the texts of the constant pool by index
    private int methods; // the number of methods with the name
    private int first = Integer.MAX_VALUE;
    private int last;

    private MethodLines(String method) {
        this.method = method;
    }

    /**
     * Returns the method with its first and last line, including its lambdas, for example {@code
     * InvoiceDesk.invoice:35-43}. Omits the lines if they are unknown, or if several methods have this name.
     */
    public static String shown(Class<?> type, String method) {
        Class<?> written = type;
        while (written.getName().contains("$$") && written.getSuperclass() != null) {
            written = written.getSuperclass(); // a generated subclass, such as a proxy of Spring
        }
        String name = ApplicationCode.method(new StackTraceElement(written.getName(), method, null, -1));
        String file = written.getName().substring(written.getName().lastIndexOf('.') + 1) + ".class";
        MethodLines lines = new MethodLines(method);
        try (InputStream bytes = written.getResourceAsStream(file)) {
            if (bytes != null) {
                lines.read(new DataInputStream(new ByteArrayInputStream(bytes.readAllBytes())));
            }
        } catch (IOException | RuntimeException e) {
            return name;
        }
        return lines.methods == 1 && lines.last > 0 ? name + ":" + lines.range() : name;
    }

    private String range() {
        return first == last ? String.valueOf(first) : first + "-" + last;
    }

    private void read(DataInputStream in) throws IOException {
        if (in.readInt() != MAGIC) {
            return;
        }
        in.skipBytes(4); // the version
        readConstants(in);
        in.skipBytes(6); // the access flags, the class and its superclass
        in.skipBytes(2 * in.readUnsignedShort()); // the interfaces
        for (int fields = in.readUnsignedShort(); fields > 0; fields--) {
            in.skipBytes(6);
            readAttributes(in, false);
        }
        for (int count = in.readUnsignedShort(); count > 0; count--) {
            in.skipBytes(2);
            String name = text(in);
            in.skipBytes(2);
            methods += name.equals(method) ? 1 : 0;
            readAttributes(in, name.equals(method) || name.startsWith(LAMBDA + method + "$"));
        }
    }

    private void readConstants(DataInputStream in) throws IOException {
        int count = in.readUnsignedShort();
        for (int i = 1; i < count; i++) {
            int tag = in.readUnsignedByte();
            switch (tag) {
                case UTF8 -> texts.put(i, in.readUTF());
                case 3, 4, 9, 10, 11, 12, 17, 18 -> in.skipBytes(4); // numbers and pairs of references
                case 5, 6 -> { // long and double occupy two entries
                    in.skipBytes(8);
                    i++;
                }
                case 7, 8, 16, 19, 20 -> in.skipBytes(2); // one reference
                case 15 -> in.skipBytes(3); // a method handle
                default -> throw new IOException("unknown constant " + tag);
            }
        }
    }

    private String text(DataInputStream in) throws IOException {
        return texts.getOrDefault(in.readUnsignedShort(), "");
    }

    private void readAttributes(DataInputStream in, boolean isWanted) throws IOException {
        for (int count = in.readUnsignedShort(); count > 0; count--) {
            String name = text(in);
            int length = in.readInt();
            if (isWanted && name.equals("Code")) {
                in.skipBytes(4); // the sizes of the stack and of the local variables
                in.skipBytes(in.readInt());
                in.skipBytes(8 * in.readUnsignedShort()); // the exception handlers
                readAttributes(in, true);
            } else if (isWanted && name.equals("LineNumberTable")) {
                for (int lines = in.readUnsignedShort(); lines > 0; lines--) {
                    in.skipBytes(2);
                    int line = in.readUnsignedShort();
                    first = Math.min(first, line);
                    last = Math.max(last, line);
                }
            } else {
                in.skipBytes(length);
            }
        }
    }
}
