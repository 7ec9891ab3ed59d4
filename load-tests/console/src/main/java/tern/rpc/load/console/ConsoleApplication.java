package tern.rpc.load.console;

import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import tern.rpc.spring.RpcFallback;
import tern.rpc.spring.RpcReference;

/**
 * Exports {@link Workshop} and calls {@link Stock}. No application provides {@link Stock}, so a fallback answers the
 * calls to it.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({Counts.class, CountedWorkshop.class, ConsoleApplication.NothingLeft.class})
public class ConsoleApplication {

    @RpcFallback(forInterface = Stock.class)
    static class NothingLeft implements Stock {
        @Override
        public int left(String item) {
            return 0;
        }
    }

    @Bean
    ApplicationRunner firstCalls(@RpcReference(url = "dubbo://127.0.0.1:1") Stock stock) {
        return arguments -> {
            stock.left("tea");
            stock.left("coffee");
        };
    }

    public static void main(String[] arguments) {
        SpringApplication.run(ConsoleApplication.class, arguments);
    }
}
