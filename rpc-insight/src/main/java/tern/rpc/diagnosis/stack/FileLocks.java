package tern.rpc.diagnosis.stack;

import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;

/**
 * Recognizes threads waiting for a file lock ({@link java.nio.channels.FileChannel#lock()}). Another process must hold
 * the lock: if this process held it, the request would fail immediately. The thread waits in a JDK method that is also
 * used to read and write files. Without this class, the wait would look like slow disk access.
 */
public final class FileLocks {

    private static final String NAME = "file lock requested in ";

    private FileLocks() {}

    /**
     * Returns the wait for a file lock; null if the thread does not wait for one.
     *
     * @param at the application's innermost method
     */
    static @Nullable Part of(ThreadSnapshot thread, String at) {
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (!ThreadSnapshot.isPlatform(type)) {
                return null;
            }
            boolean isFile = type.startsWith("sun.nio.ch.") && type.contains("File");
            if (isFile
                    && (frame.getMethodName().equals("lock0")
                            || frame.getMethodName().equals("lock"))) {
                return new Part(Kind.LOCK, NAME + at);
            }
        }
        return null;
    }

    public static boolean isOne(Part part) {
        return part.kind() == Kind.LOCK && part.name().startsWith(NAME);
    }
}
