package slim.grpc;

import com.example.ledger.Entry;
import com.example.ledger.LedgerGrpc;
import com.example.ledger.Receipt;
import io.grpc.stub.StreamObserver;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import tern.rpc.WireName;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** An application whose methods use only protobuf messages. The application calls itself once, then exits. */
@SpringBootApplication
public class GrpcOnly {

    @RpcService
    static class Ledger extends LedgerGrpc.LedgerImplBase {
        @Override
        public void post(Entry entry, StreamObserver<Receipt> answer) {
            answer.onNext(Receipt.newBuilder().setBalance(entry.getAmount()).build());
            answer.onCompleted();
        }
    }

    @WireName("ledger.v1.Ledger")
    interface Postings {
        @WireName("Post")
        Receipt post(Entry entry);
    }

    static class Caller {
        @RpcReference(url = "tri://127.0.0.1:${local.rpc.port}")
        Postings postings;
    }

    @Bean
    @Lazy
    Caller caller() {
        return new Caller();
    }

    public static void main(String[] args) {
        try (ConfigurableApplicationContext context = SpringApplication.run(GrpcOnly.class, args)) {
            Receipt receipt = context.getBean(Caller.class)
                    .postings
                    .post(Entry.newBuilder().setAmount(5).build());
            System.out.println("balance " + receipt.getBalance());
        }
    }
}
