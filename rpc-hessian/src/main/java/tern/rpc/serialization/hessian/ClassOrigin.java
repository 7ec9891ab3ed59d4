package tern.rpc.serialization.hessian;

/** Describes a class for error messages, with its name and its class loader. */
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
