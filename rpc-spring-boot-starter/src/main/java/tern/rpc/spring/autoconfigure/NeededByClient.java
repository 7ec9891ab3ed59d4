package tern.rpc.spring.autoconfigure;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.BeanCurrentlyInCreationException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import tern.rpc.settings.RpcStartException;

/**
 * Explains a reference in a bean that the client needs before it can create references. Spring would report this as a
 * circular reference and give no advice.
 */
final class NeededByClient {

    private static final int MAX_NAMES = 5;

    private NeededByClient() {}

    /**
     * Returns an exception that explains why the client cannot be created while a bean with a reference is created.
     * Returns null if the client could not be created for another reason.
     */
    static @Nullable RpcStartException explained(
            BeanCreationException failure, ConfigurableListableBeanFactory beans, Class<?> type, String where) {
        String needed = beanInCreation(failure);
        if (needed == null) {
            return null;
        }
        String refers = where + " refers to " + type.getName();
        List<String> made = madeBy(needed, beans);
        if (!made.isEmpty()) {
            String names = String.join(", ", made.subList(0, Math.min(made.size(), MAX_NAMES)));
            Class<?> owner = beans.getType(needed, false);
            // The cause is omitted, because Spring Boot's analyzer of circular references would take precedence.
            return new RpcStartException(
                    refers + ", but the client needs a bean from the @Bean methods of "
                            + (owner == null ? "'" + needed + "'" : owner.getName())
                            + " before it can create references ("
                            + names + ")",
                    "Make the @Bean methods static, or move them to a @Configuration class that needs no reference.",
                    null);
        }
        String name = type.getSimpleName();
        return new RpcStartException(
                refers + ", but the client needs this bean before it can create"
                        + " references: the bean is a ClientFilter or RpcClientCustomizer, or one of these needs it",
                "Inject @RpcReference ObjectProvider<" + name + ">, and call getObject() on it during each call. A"
                        + " filter also runs around the calls that it makes itself, so let it pass on calls of "
                        + name + " without making a call.",
                null);
    }

    private static @Nullable String beanInCreation(BeanCreationException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof BeanCurrentlyInCreationException cycle) {
                return cycle.getBeanName();
            }
        }
        return null;
    }

    /**
     * Returns the names of the beans that {@code @Bean} methods of the given bean create. Beans of static {@code @Bean}
     * methods are omitted, because Spring calls these methods without an instance of the given bean.
     */
    private static List<String> madeBy(String owner, ConfigurableListableBeanFactory beans) {
        return Stream.of(beans.getBeanDefinitionNames())
                .filter(name -> owner.equals(beans.getMergedBeanDefinition(name).getFactoryBeanName()))
                .toList();
    }
}
