package tern.rpc.serialization.hessian;

/** Describes the origin of a class, that is, its class loader and name, for error messages. */
final class ClassOrigin {

    private ClassOrigin() {}

    static boolean isOfApplication(Class<?> type) {
        ClassLoader loader = type.getClassLoader();
        return loader != null && loader != ClassLoader.getPlatformClassLoader();
    }

    static String packageOf(String className) {
        return className.substring(0, Math.max(className.lastIndexOf('.'), 0));
    }
}
