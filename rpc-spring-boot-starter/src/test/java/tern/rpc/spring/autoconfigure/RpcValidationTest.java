package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import jakarta.validation.constraints.Min;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration;
import org.springframework.validation.annotation.Validated;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests Bean Validation of arguments. Spring validates services in the same way as any other bean. */
class RpcValidationTest {

    /** The constraints are declared on the interface, where callers see them too. */
    public interface OrderService {
        String order(@Min(1) int count);
    }

    @RpcService
    @Validated
    static class Orders implements OrderService {
        @Override
        public String order(int count) {
            return count + " ordered";
        }
    }

    static class User {
        @RpcReference
        OrderService orders;
    }

    @Test
    void invalidArgumentIsReportedToTheCaller() {
        provider(Orders.class)
                .withConfiguration(AutoConfigurations.of(ValidationAutoConfiguration.class))
                .run(there -> consumerOf(there, User.class).run(here -> {
                    OrderService orders = here.getBean(User.class).orders;

                    assertThat(orders.order(2)).isEqualTo("2 ordered");
                    assertThatThrownBy(() -> orders.order(0))
                            .isInstanceOfSatisfying(
                                    RpcException.class,
                                    failure -> assertThat(failure.code()).isEqualTo(StatusCode.INVALID_ARGUMENT))
                            .hasMessageContaining("order.count: must be greater than or equal to 1");
                }));
    }
}
