package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import org.junit.jupiter.api.Test;
import org.springframework.context.ApplicationContext;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.RpcService;

/** Tests services whose superclass implements a generic interface. */
class GenericBaseClassTest {

    interface Store<T> {
        T find(String id);
    }

    interface Texts extends Store<String> {
        int count();
    }

    interface Numbers extends Store<Integer> {}

    interface Sizes {
        int size();
    }

    abstract static class StoreOf<T> implements Store<T>, Sizes {
        @Override
        public int size() {
            return 1;
        }
    }

    @RpcService
    static class StoredTexts extends StoreOf<String> implements Texts {
        @Override
        public String find(String id) {
            return id;
        }

        @Override
        public int count() {
            return 1;
        }
    }

    @RpcService(interfaces = Numbers.class)
    static class StoredNumbers extends StoreOf<Integer> implements Numbers {
        @Override
        public Integer find(String id) {
            return 1;
        }
    }

    @RpcService
    static class Named extends StoreOf<String> implements Texts, Store<String> {
        @Override
        public String find(String id) {
            return id;
        }

        @Override
        public int count() {
            return 1;
        }
    }

    @RpcService
    static class OnlyGeneric extends StoreOf<String> {
        @Override
        public String find(String id) {
            return id;
        }
    }

    @Test
    void genericInterfaceOfTheSuperclassIsNotExportedNextToAnInterfaceThatExtendsIt() {
        provider(StoredTexts.class, StoredNumbers.class)
                .run(there -> assertThat(exported(there)).containsExactlyInAnyOrder("Texts", "Sizes", "Numbers"));
    }

    @Test
    void genericInterfaceThatTheClassNamesIsExported() {
        provider(Named.class)
                .run(there -> assertThat(exported(there)).containsExactlyInAnyOrder("Texts", "Sizes", "Store"));
    }

    @Test
    void genericInterfaceOfTheSuperclassIsExportedIfNoOtherExtendsIt() {
        provider(OnlyGeneric.class)
                .run(there -> assertThat(exported(there)).containsExactlyInAnyOrder("Store", "Sizes"));
    }

    private static Iterable<String> exported(ApplicationContext there) {
        return BuiltInService.others(there.getBean(RpcServer.class).exports()).stream()
                .map(name -> name.substring(name.lastIndexOf('$') + 1))
                .toList();
    }
}
