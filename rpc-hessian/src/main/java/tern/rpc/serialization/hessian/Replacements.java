package tern.rpc.serialization.hessian;

import com.alibaba.com.caucho.hessian.io.JavaSerializer;
import org.jspecify.annotations.Nullable;

/** Rules for the objects that {@code writeReplace} returns as replacements. */
final class Replacements {

    private static final String HIBERNATE = "org.hibernate.proxy.";

    private Replacements() {}

    /**
     * Returns whether a message may contain an object of the replacement class at a position of the declared class. The
     * replacement class must have a {@code readResolve} method. In addition, the declared class must have a
     * {@code writeReplace} method, or the replacement class must be nested in a subclass of the declared class that has
     * a {@code writeReplace} method. The reader checks the class of the object that {@code readResolve} returns.
     */
    static boolean mayStandFor(Class<?> declared, Class<?> replacement) {
        Class<?> outer = replacement.getEnclosingClass();
        boolean isReplaced = replacesItself(declared)
                || (outer != null && declared.isAssignableFrom(outer) && replacesItself(outer));
        return isReplaced && BeanShape.isResolved(replacement);
    }

    private static boolean replacesItself(Class<?> type) {
        return JavaSerializer.getWriteReplace(type) != null;
    }

    /** Returns whether instances of the class with this name represent unloaded Hibernate entities. */
    static boolean isOfHibernate(String name) {
        return name.startsWith(HIBERNATE);
    }

    /**
     * Rejects an unloaded entity on the sender's side, because the receiver could not load it.
     *
     * @throws IllegalStateException if the replacement represents an unloaded Hibernate entity
     */
    static void check(Object replaced, @Nullable Object replacement) {
        if (replacement != null && isOfHibernate(replacement.getClass().getName())) {
            throw new IllegalStateException(replaced.getClass().getSuperclass().getName()
                    + " is a lazy association that is not loaded; load it,"
                    + " for example with JOIN FETCH, or send a record of your own");
        }
    }
}
