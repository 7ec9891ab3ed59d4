package tern.rpc.diagnosis.stack;

import java.io.IOException;
import java.io.InputStream;
import java.util.IntSummaryStatistics;
import tern.rpc.pool.ApplicationCode;

/**
 * Reads the source lines of a method from the class file. A method that has already returned appears in no stack, so
 * its lines are known only from there.
 */
public final class MethodLines {

    private static final String LAMBDA = "lambda$";

    private MethodLines() {}

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
        try (InputStream bytes = written.getResourceAsStream(file)) {
            return bytes == null ? name : name + range(ClassFile.read(bytes.readAllBytes()), method);
        } catch (IOException | RuntimeException e) {
            return name;
        }
    }

    /** Returns the first and last line with a colon; empty if they are unknown, or if several methods have the name. */
    private static String range(ClassFile file, String method) {
        long named =
                file.methods().stream().filter(one -> one.name().equals(method)).count();
        IntSummaryStatistics lines = file.methods().stream()
                .filter(one -> one.name().equals(method) || one.name().startsWith(LAMBDA + method + "$"))
                .flatMap(one -> one.lines().values().stream())
                .mapToInt(Integer::intValue)
                .summaryStatistics();
        if (named != 1 || lines.getCount() == 0) {
            return "";
        }
        return ":" + lines.getMin() + (lines.getMin() == lines.getMax() ? "" : "-" + lines.getMax());
    }
}
