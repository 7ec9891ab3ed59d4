package tern.rpc.spring.autoconfigure;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.BeanCurrentlyInCreationException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import tern.rpc.ClientFilter;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.RpcClientCustomizer;

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
            // The cause is omitted. With the cause, Spring Boot's analyzer of circular references would take
            // precedence.
            return new RpcStartException(
                    refers + ", but the client needs a bean from the @Bean methods of "
                            + (owner == null ? "'" + needed + "'" : owner.getName())
                            + " before it can create references ("
                            + names + ")",
                    "Make the @Bean methods static, or move them to a @Configuration class that needs no reference.",
                    null);
        }
        String name = type.getSimpleName();
        String needs = refers + ", but the client needs this bean before it can create references: ";
        String action =
                "Inject @RpcReference ObjectProvider<" + name + ">, and call getObject() on it during each call.";
        if (isOfFilter(beans)) {
            return new RpcStartException(
                    needs + "the bean is a ClientFilter or RpcClientCustomizer, or one of these needs it",
                    action + " A filter also runs around the calls that it makes itself, so let it pass on calls of "
                            + name + " without making a call.",
                    null);
        }
        return new RpcStartException(needs + path(failure, needed), action, null);
    }

    /** Returns whether a filter or a customizer of the client is being created. */
    private static boolean isOfFilter(ConfigurableListableBeanFactory beans) {
        return Stream.of(ClientFilter.class, RpcClientCustomizer.class)
                .flatMap(type -> Stream.of(beans.getBeanNamesForType(type, true, false)))
                .anyMatch(beans::isCurrentlyInCreation);
    }

    /** Returns the names of the beans that need each other, from the client to the bean with the reference. */
    private static String path(BeanCreationException failure, String needed) {
        Set<String> names = new LinkedHashSet<>();
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof BeanCreationException creation && creation.getBeanName() != null) {
                names.add(creation.getBeanName());
            }
        }
        names.remove(needed);
        return names.isEmpty()
                ? "a bean that the client uses, such as a JsonMapper, needs it"
                : String.join(" needs ", names) + " needs " + needed;
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
     * Returns the names of the beans that {@code @Bean} methods of the given bean create. Beans from static
     * {@code @Bean} methods are omitted, because Spring calls these methods without an instance of the given bean.
     */
    private static List<String> madeBy(String owner, ConfigurableListableBeanFactory beans) {
        return Stream.of(beans.getBeanDefinitionNames())
                .filter(name -> owner.equals(beans.getMergedBeanDefinition(name).getFactoryBeanName()))
                .toList();
    }
}
