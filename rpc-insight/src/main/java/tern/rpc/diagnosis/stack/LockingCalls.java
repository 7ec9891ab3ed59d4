package tern.rpc.diagnosis.stack;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads from a class file in which lines each method takes or releases locks and permits. */
final class LockingCalls {

    private static final Pattern LOCKS = Pattern.compile("java/util/concurrent/.*|.*(?:Lock|Semaphore|Mutex)\\w*");
    private static final Pattern TAKES =
            Pattern.compile("lock.*|tryLock.*|(?:try)?(?:Read|Write|read|write)Lock.*|acquire.*|tryAcquire.*");
    /** The methods {@code readLock} and {@code writeLock} of these classes only return a lock. */
    private static final Pattern VIEWS = Pattern.compile(".*ReadWriteLock");

    private static final Pattern RELEASES = Pattern.compile("unlock.*|tryUnlock.*|release.*");

    private static final int SYNCHRONIZED = 0x20;

    /** The lengths of the instructions with the opcodes 0 to 201; 0 for instructions whose length varies. */
    private static final byte[] LENGTHS = lengths();

    private static final int GETSTATIC = 178;
    private static final int GETFIELD = 180;
    private static final int INVOKEVIRTUAL = 182;
    private static final int INVOKEINTERFACE = 185;
    private static final int MONITORENTER = 194;
    private static final int MONITOREXIT = 195;
    private static final int TABLESWITCH = 170;
    private static final int LOOKUPSWITCH = 171;
    private static final int WIDE = 196;
    private static final int IINC = 132;

    private final ClassFile file;
    private final Map<String, List<Use>> uses = new HashMap<>(); // by the name of the method

    /**
     * A use of a lock.
     *
     * @param takes whether the lock is taken; otherwise it is released
     * @param field the name of the field that contains the lock; empty if it is unknown
     * @param type the descriptor of this field; empty if it is unknown; {@value #MONITOR} for the monitor of an object
     */
    record Use(int line, boolean takes, String field, String type) {

        static final String MONITOR = "monitor";

        static Use ofMonitor(int line, boolean enters) {
            return new Use(line, enters, "", MONITOR);
        }

        boolean isOfPermit() {
            return type.equals("Ljava/util/concurrent/Semaphore;");
        }

        boolean isOfMonitor() {
            return type.equals(MONITOR);
        }
    }

    private LockingCalls(ClassFile file) {
        this.file = file;
    }

    /** Returns the uses of locks in each method, by the method's name. Overloaded methods share a name. */
    static Map<String, List<Use>> read(byte[] classFile) throws IOException {
        LockingCalls calls = new LockingCalls(ClassFile.read(classFile));
        for (ClassFile.Method method : calls.file.methods()) {
            if ((method.access() & SYNCHRONIZED) != 0) {
                calls.add(method, Use.ofMonitor(0, true));
            }
            calls.addUses(method);
        }
        return calls.uses;
    }

    private void add(ClassFile.Method method, Use use) {
        uses.computeIfAbsent(method.name(), key -> new ArrayList<>()).add(use);
    }

    private void addUses(ClassFile.Method method) {
        byte[] code = method.code();
        ClassFile.Member field = null; // the field that the previous instruction has read
        int at = 0;
        while (at < code.length) {
            int opcode = code[at] & 0xff;
            Use use = use(opcode, code, at, field, method.lines().floorEntry(at));
            if (use != null) {
                add(method, use);
            }
            boolean reads = opcode == GETSTATIC || opcode == GETFIELD;
            field = reads ? file.member(index(code, at)) : null;
            int length = length(opcode, code, at);
            if (length <= 0) {
                return; // an instruction that this class does not know
            }
            at += length;
        }
    }

    private @Nullable Use use(
            int opcode,
            byte[] code,
            int at,
            ClassFile.@Nullable Member field,
            Map.@Nullable Entry<Integer, Integer> line) {
        if (line == null) {
            return null;
        }
        if (opcode == MONITORENTER || opcode == MONITOREXIT) {
            return Use.ofMonitor(line.getValue(), opcode == MONITORENTER);
        }
        if (opcode < INVOKEVIRTUAL || opcode > INVOKEINTERFACE) {
            return null;
        }
        ClassFile.Member called = file.member(index(code, at));
        boolean isView = VIEWS.matcher(called.owner()).matches();
        boolean takes = TAKES.matcher(called.name()).matches() && !isView;
        if (!LOCKS.matcher(called.owner()).matches()
                || !(takes || RELEASES.matcher(called.name()).matches())) {
            return null;
        }
        return new Use(line.getValue(), takes, field == null ? "" : field.name(), field == null ? "" : field.type());
    }

    private static int index(byte[] code, int at) {
        return (code[at + 1] & 0xff) << 8 | (code[at + 2] & 0xff);
    }

    private static int number(byte[] code, int at) {
        return index(code, at - 1) << 16 | index(code, at + 1);
    }

    /** Returns the length of an instruction with its operands; 0 if it is unknown. */
    private static int length(int opcode, byte[] code, int at) {
        int aligned = (at / 4 + 1) * 4; // the operands of a switch begin at a multiple of four
        return switch (opcode) {
            case TABLESWITCH -> aligned - at + 12 + 4 * (number(code, aligned + 8) - number(code, aligned + 4) + 1);
            case LOOKUPSWITCH -> aligned - at + 8 + 8 * number(code, aligned + 4);
            case WIDE -> (code[at + 1] & 0xff) == IINC ? 6 : 4;
            default -> opcode < LENGTHS.length ? LENGTHS[opcode] : 0;
        };
    }

    private static byte[] lengths() {
        byte[] lengths = new byte[202];
        Arrays.fill(lengths, (byte) 1);
        int[][] longer = {
            {16, 16, 2},
            {17, 17, 3},
            {18, 18, 2},
            {19, 20, 3},
            {21, 25, 2},
            {54, 58, 2},
            {132, 132, 3},
            {153, 168, 3},
            {169, 169, 2},
            {178, 184, 3},
            {185, 186, 5},
            {187, 187, 3},
            {188, 188, 2},
            {189, 189, 3},
            {192, 193, 3},
            {197, 197, 4},
            {198, 199, 3},
            {200, 201, 5}
        };
        for (int[] range : longer) {
            Arrays.fill(lengths, range[0], range[1] + 1, (byte) range[2]);
        }
        return lengths;
    }
}
