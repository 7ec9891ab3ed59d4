package tern.rpc.diagnosis.sample;

import java.util.function.Predicate;
import java.util.regex.Pattern;
import tern.rpc.diagnosis.stack.Libraries;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.pool.ApplicationCode;

/** Recognizes from a thread's stack that a pool checks a connection before it lends the connection. */
final class ConnectionChecks {

    /** Matches the methods of Druid, HikariCP, DBCP, Tomcat's pool and c3p0 that check a connection. */
    private static final Pattern CHECK =
            Pattern.compile("test\\w*Connection\\w*|validate\\w*|isValid\\w*|isConnection(Alive|Dead)|activeCheck\\w*");

    /** Druid checks connections in classes of this package, which also do other work. */
    private static final String DRUID = "com.alibaba.druid.pool.";

    private ConnectionChecks() {}

    static boolean isOne(ThreadSnapshot thread) {
        Predicate<String> application = ApplicationCode.ownerIn(thread.frames());
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (application.test(type)) {
                return false;
            }
            boolean isPool = Libraries.isPool(type) || type.startsWith(DRUID);
            if (isPool && CHECK.matcher(frame.getMethodName()).matches()) {
                return true;
            }
        }
        return false;
    }
}
