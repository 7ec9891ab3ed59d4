package tern.sample.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;

class ContractTest {

    @Test
    void everyInterfaceCanBeCalledRemotely() {
        assertThat(List.of(UserService.class, EchoService.class, ScheduleService.class))
                .allSatisfy(type -> assertThat(ServiceDescriptor.of(type).warnings())
                        .as(type.getName())
                        .isEmpty());
    }

    @Test
    void onlyIdempotentMethodsAreMarked() {
        assertThat(ServiceDescriptor.of(UserService.class).methods())
                .filteredOn(MethodDescriptor::isIdempotent)
                .extracting(MethodDescriptor::name)
                .containsExactlyInAnyOrder("existUser", "getUser", "listUser");
    }
}
