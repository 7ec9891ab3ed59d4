package shop;

import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import tern.rpc.spring.RpcReference;

/** Beans of an application. Their fields contain objects with references. */
public final class Carts {

    private Carts() {}

    /** A remote service. */
    public interface Prices {
        String of(String item);
    }

    /** A class with a reference, which is injected only if Spring creates the object. */
    public static class Checkout {
        @RpcReference
        Prices prices;
    }

    /** A class with a {@link Checkout}. Neither class is a bean. */
    public static class Counter {
        final Checkout checkout = new Checkout();
    }

    @Configuration
    public static class InAField {
        final Checkout checkout = new Checkout();
    }

    @Configuration
    public static class InAList {
        final List<Checkout> all = List.of(new Checkout(), new Checkout());
    }

    @Configuration
    public static class InAMap {
        final Map<String, Checkout> all = Map.of("one", new Checkout());
    }

    @Configuration
    public static class InAnObject {
        final Counter counter = new Counter();
    }

    @Configuration
    public static class AsABean {
        @Autowired
        @Lazy
        Checkout checkout;

        @Autowired
        List<Checkout> all;

        @Bean
        static Checkout checkout() {
            return new Checkout();
        }
    }

    @Configuration
    public static class Early implements BeanFactoryPostProcessor {
        @RpcReference
        Prices prices;

        @Override
        public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
            // This method does nothing, because the test examines only the field of this class.
        }
    }

    @Configuration
    public static class WithEarly {
        @RpcReference
        Prices prices;

        @Bean
        BeanFactoryPostProcessor changesNothing() {
            return beans -> {};
        }

        @Bean
        static BeanFactoryPostProcessor changesNothingEither() {
            return beans -> {};
        }
    }
}
