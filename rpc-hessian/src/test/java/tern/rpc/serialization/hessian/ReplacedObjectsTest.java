package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import java.util.List;
import org.hibernate.proxy.pojo.bytebuddy.SerializableProxy;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.serialization.SerializationException;

/** Tests objects whose {@code writeReplace} method returns an object of a class that no interface declares. */
class ReplacedObjectsTest {

    interface Amount {
        String text();
    }

    /** A class that uses the serialization proxy pattern from the book "Effective Java". */
    static final class Money implements Amount, Serializable {
        private static final long serialVersionUID = 1L;

        private final transient String text;

        Money(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        private Object writeReplace() {
            return new Proxy(text);
        }

        private static final class Proxy implements Serializable {
            private static final long serialVersionUID = 1L;

            private final String text;

            Proxy(String text) {
                this.text = text;
            }

            private Object readResolve() {
                return new Money(text);
            }
        }
    }

    /** A class in the service's package whose {@code readResolve} returns an object of an unexpected class. */
    static final class Liar implements Serializable {
        private static final long serialVersionUID = 1L;

        private Object readResolve() {
            return "no money";
        }
    }

    /** A class in the service's package whose instances are not replaced during serialization. */
    static final class Neighbour implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    static class Customer implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    /** Represents an unloaded entity, like Hibernate's proxies. */
    static final class UnloadedCustomer extends Customer {
        private static final long serialVersionUID = 1L;

        private Object writeReplace() {
            return new SerializableProxy();
        }
    }

    static final class Order implements Serializable {
        private static final long serialVersionUID = 1L;

        @Nullable
        Money total;

        @Nullable
        Amount discount;

        @Nullable
        List<Money> parts;

        @Nullable
        Customer customer;
    }

    interface Orders {
        Order find(Money money, Amount amount);
    }

    private final Coding coding = Coding.of(Orders.class);

    @Test
    void privateProxyArrivesAsTheObjectThatItStandsFor() {
        Money money = new Money("12 EUR");
        Order order = new Order();
        order.total = money;
        order.discount = new Money("1 EUR");
        order.parts = List.of(money, new Money("11 EUR"));

        Order arrived = (Order) coding.through(order, Order.class);

        assertThat(((Money) coding.through(money, Money.class)).text()).isEqualTo("12 EUR");
        assertThat(((Amount) coding.through(money, Amount.class)).text()).isEqualTo("12 EUR");
        assertThat(arrived.total.text()).isEqualTo("12 EUR");
        assertThat(arrived.discount.text()).isEqualTo("1 EUR");
        assertThat(arrived.parts).extracting(Money::text).containsExactly("12 EUR", "11 EUR");
        assertThat(arrived.parts.get(0)).isSameAs(arrived.total);
    }

    @Test
    void proxyMustCreateTheDeclaredClass() {
        assertThatThrownBy(() -> read(Liar.class, Money.class)).isInstanceOf(SerializationException.class);
    }

    @Test
    void onlyClassesThatResolveThemselvesStandForOthers() {
        assertThatThrownBy(() -> read(Neighbour.class, Money.class))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("may not be read");
        assertThatThrownBy(() -> read(Liar.class, Customer.class))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("may not be read");
    }

    private @Nullable Object read(Class<?> sent, Class<?> declared) {
        return coding.read(Coding.bytes("43 \"" + sent.getName() + "\" 90 60"), declared);
    }

    @Test
    void senderLearnsThatAnAssociationIsNotLoaded() {
        Order order = new Order();
        order.customer = new UnloadedCustomer();

        assertThatThrownBy(() -> coding.write(order))
                .hasStackTraceContaining(
                        Customer.class.getName() + " is a lazy association that is not loaded; load it")
                .hasStackTraceContaining("field: " + Order.class.getName() + ".customer");
    }

    @Test
    void receiverIsNotAdvisedToAllowAClassOfHibernate() {
        for (Class<?> declared : List.of(Customer.class, Object.class)) {
            assertThatThrownBy(() -> read(SerializableProxy.class, declared))
                    .isInstanceOf(SerializationException.class)
                    .hasMessageContaining("an association that the sender has not loaded")
                    .hasMessageNotContaining("rpc.limits.allowed-classes");
        }
    }

    @Test
    void receiverIsNotAdvisedToAllowClassesThatAttacksUse() {
        assertThatThrownBy(() -> coding.read(Coding.bytes("43 \"org.quartz.utils.Anything\" 90 60"), Object.class))
                .hasMessageContaining("class org.quartz.utils.Anything may not be read at ")
                .hasMessageContaining("classes of this package are not data; send a type of your own")
                .hasMessageNotContaining("rpc.limits.allowed-classes");
    }
}
