package tern.rpc.spring.autoconfigure;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.Future;
import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.util.ClassUtils;
import tern.rpc.settings.RpcStartException;

/**
 * Prevents startup if Spring asynchronously runs a service method that returns a value, for example because of
 * {@code @Async}. Spring would throw an exception at each call to this method.
 */
final class AsyncServices {

    private AsyncServices() {}

    /**
     * @param bean the bean itself or its proxy
     * @param type the bean's own class, not the class of its proxy
     */
    static void check(String name, Object bean, Class<?> type, Set<Class<?>> services) {
        if (!(bean instanceof Advised advised)) {
            return;
        }
        for (Advisor advisor : advised.getAdvisors()) {
            if (advisor instanceof PointcutAdvisor asynchronous
                    && advisor.getAdvice() instanceof AsyncExecutionInterceptor) {
                services.forEach(service -> check(name, asynchronous, type, service));
            }
        }
    }

    private static void check(String name, PointcutAdvisor advisor, Class<?> type, Class<?> service) {
        for (Method declared : service.getMethods()) {
            Method method = ClassUtils.getMostSpecificMethod(declared, type);
            if (!isPossible(method.getReturnType())
                    && advisor.getPointcut().getClassFilter().matches(type)
                    && advisor.getPointcut().getMethodMatcher().matches(method, type)) {
                throw new RpcStartException(
                        "Bean '" + name + "' is an @RpcService, and Spring runs its method " + declared.getName()
                                + " asynchronously (@Async), but the method returns "
                                + method.getReturnType().getSimpleName() + ", so each call would fail",
                        "Remove @Async: each call has a thread of Tern. Or let the method return a CompletableFuture.",
                        null);
            }
        }
    }

    /** Returns whether Spring can asynchronously run a method with this result type. */
    private static boolean isPossible(Class<?> result) {
        return result == void.class || Future.class.isAssignableFrom(result);
    }
}
