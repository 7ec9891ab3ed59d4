package tern.rpc.diagnosis.stack;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The methods of a class with their code and source lines, read from a class file (Java Virtual Machine Specification,
 * chapter 4).
 */
final class ClassFile {

    private static final int MAGIC = 0xCAFEBABE;

    private final DataInputStream in;
    private final Map<Integer, Object> constants = new HashMap<>();
    private final List<Method> methods = new ArrayList<>();

    /**
     * A method.
     *
     * @param code the instructions; empty for an abstract or native method
     * @param lines the source line of each instruction that begins a line, by the position of the instruction
     */
    record Method(int access, String name, byte[] code, TreeMap<Integer, Integer> lines) {}

    /** A field or method, with its class and descriptor. */
    record Member(String owner, String name, String type) {}

    /** The indexes of two other constants. */
    private record Pair(int first, int second) {}

    private ClassFile(byte[] bytes) {
        this.in = new DataInputStream(new ByteArrayInputStream(bytes));
    }

    /** @throws IOException if the bytes are not a class file that this class can read */
    static ClassFile read(byte[] bytes) throws IOException {
        ClassFile file = new ClassFile(bytes);
        file.read();
        return file;
    }

    /** Returns all methods. Overloaded methods have the same name. */
    List<Method> methods() {
        return methods;
    }

    /** Returns the field or method at the given index of the constant pool; with empty texts if there is none. */
    Member member(int index) {
        Pair member = pair(index);
        Pair nameAndType = pair(member.second);
        return new Member(text(pair(member.first).first), text(nameAndType.first), text(nameAndType.second));
    }

    private void read() throws IOException {
        if (in.readInt() != MAGIC) {
            throw new IOException("not a class file");
        }
        in.skipNBytes(4); // the version
        readConstants();
        in.skipNBytes(6); // the access flags and the names of this class and its superclass
        in.skipNBytes(2L * in.readUnsignedShort()); // the interfaces
        for (int fields = in.readUnsignedShort(); fields > 0; fields--) {
            in.skipNBytes(6);
            skipAttributes();
        }
        for (int count = in.readUnsignedShort(); count > 0; count--) {
            readMethod();
        }
    }

    private void readConstants() throws IOException {
        int count = in.readUnsignedShort();
        for (int i = 1; i < count; i++) {
            int tag = in.readUnsignedByte();
            switch (tag) {
                case 1 -> constants.put(i, in.readUTF());
                case 7, 8, 16, 19, 20 -> constants.put(i, new Pair(in.readUnsignedShort(), 0));
                case 3, 4, 9, 10, 11, 12, 17, 18 ->
                    constants.put(i, new Pair(in.readUnsignedShort(), in.readUnsignedShort()));
                case 15 -> in.skipNBytes(3);
                case 5, 6 -> {
                    in.skipNBytes(8);
                    i++; // such a constant takes two indexes
                }
                default -> throw new IOException("constant of an unknown kind: " + tag);
            }
        }
    }

    private void readMethod() throws IOException {
        int access = in.readUnsignedShort();
        String name = text(in.readUnsignedShort());
        in.skipNBytes(2);
        Method method = new Method(access, name, new byte[0], new TreeMap<>());
        for (int attributes = in.readUnsignedShort(); attributes > 0; attributes--) {
            boolean isCode = text(in.readUnsignedShort()).equals("Code");
            long length = Integer.toUnsignedLong(in.readInt());
            if (isCode) {
                method = withCode(access, name);
            } else {
                in.skipNBytes(length);
            }
        }
        methods.add(method);
    }

    private Method withCode(int access, String name) throws IOException {
        in.skipNBytes(4); // the sizes of the stack and of the local variables
        byte[] code = new byte[in.readInt()];
        in.readFully(code);
        in.skipNBytes(8L * in.readUnsignedShort()); // the exception table
        TreeMap<Integer, Integer> lines = new TreeMap<>();
        for (int attributes = in.readUnsignedShort(); attributes > 0; attributes--) {
            boolean isLines = text(in.readUnsignedShort()).equals("LineNumberTable");
            long length = Integer.toUnsignedLong(in.readInt());
            if (isLines) {
                for (int entries = in.readUnsignedShort(); entries > 0; entries--) {
                    lines.put(in.readUnsignedShort(), in.readUnsignedShort());
                }
            } else {
                in.skipNBytes(length);
            }
        }
        return new Method(access, name, code, lines);
    }

    private void skipAttributes() throws IOException {
        for (int attributes = in.readUnsignedShort(); attributes > 0; attributes--) {
            in.skipNBytes(2);
            in.skipNBytes(Integer.toUnsignedLong(in.readInt()));
        }
    }

    private String text(int index) {
        return constants.get(index) instanceof String text ? text : "";
    }

    private Pair pair(int index) {
        return constants.get(index) instanceof Pair pair ? pair : new Pair(0, 0);
    }
}
